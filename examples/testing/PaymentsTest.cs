// Needs .NET 10 and a Farthing that was started with FARTHING_CONTROL=true and FARTHING_CALLBACK_HOSTS=127.0.0.1.
// Reads FARTHING_URL and FARTHING_API_KEY. Run it with: dotnet run PaymentsTest.cs
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;

var url = Environment.GetEnvironmentVariable("FARTHING_URL");
var parentKey = Environment.GetEnvironmentVariable("FARTHING_API_KEY")!;
var payment = """{"amount": 1450, "reference": "R-7", "description": "A licence", "return_url": "https://example.org/back"}""";
var client = new HttpClient();

// The status and the JSON of the response, also of an error.
async Task<(int Status, JsonNode? Body)> Ask(string key, string method, string path, string? body = null)
{
    var request = new HttpRequestMessage(new HttpMethod(method), url + path);
    request.Headers.Add("Authorization", $"Bearer {key}");
    if (body != null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
    var response = await client.SendAsync(request);
    var text = await response.Content.ReadAsStringAsync();
    return ((int)response.StatusCode, text == "" ? null : JsonNode.Parse(text));
}

void Expect(object wanted, object? found)
{
    if (!wanted.Equals(found)) throw new Exception($"expected {wanted}, found {found}");
}

var account = (await Ask(parentKey, "POST", "/control/accounts")).Body!;
var key = (string)account["key"]!;

// A webhook is signed over its raw bytes.
var free = new TcpListener(IPAddress.Loopback, 0);
free.Start();
var address = $"http://127.0.0.1:{((IPEndPoint)free.LocalEndpoint).Port}/";
free.Stop();
using var receiver = new HttpListener();
receiver.Prefixes.Add(address);
receiver.Start();
var receiving = Task.Run(async () =>
{
    var exchange = await receiver.GetContextAsync();
    var bytes = new MemoryStream();
    await exchange.Request.InputStream.CopyToAsync(bytes);
    exchange.Response.Close();
    return (Body: bytes.ToArray(), Signature: exchange.Request.Headers["Pay-Signature"] ?? "");
});
var subscription = $$"""{"callback_url": "{{address}}", "subscriptions": ["card_payment_succeeded"]}""";
var webhook = (await Ask(key, "POST", "/v1/webhooks", subscription)).Body!;
var id = (string)(await Ask(key, "POST", "/v1/payments", payment)).Body!["payment_id"]!;
var paid = (await Ask(key, "POST", $"/control/payments/{id}/complete", """{"scenario": "success"}""")).Body!;
Expect("success", (string?)paid["state"]!["status"]);
var message = await receiving; // The response came after the delivery.
var right = HMACSHA256.HashData(Encoding.UTF8.GetBytes((string)webhook["signing_key"]!), message.Body);
Expect(true, CryptographicOperations.FixedTimeEquals(right, Convert.FromHexString(message.Signature)));

// A refund succeeds after 5 seconds, and a payment is gone after 7 days.
var refund = (await Ask(key, "POST", $"/v1/payments/{id}/refunds", """{"amount": 500, "refund_amount_available": 1450}""")).Body!;
Expect("submitted", (string?)refund["status"]);
await Ask(key, "POST", "/control/clock", """{"advance": 5000}""");
Expect("success", (string?)(await Ask(key, "GET", $"/v1/payments/{id}/refunds/{refund["refund_id"]}")).Body!["status"]);
await Ask(key, "POST", "/control/clock", """{"advance": 604800000}""");
Expect("P0200", (string?)(await Ask(key, "GET", $"/v1/payments/{id}")).Body!["code"]);

// A 503 and a lost answer can be planned.
await Ask(key, "POST", "/control/plans", """{"on": "createPayment", "answer": {"status": 503}}""");
Expect(503, (await Ask(key, "POST", "/v1/payments", payment)).Status);
await Ask(key, "POST", "/control/plans", """{"on": "createPayment", "when": "after", "reset": true}""");
var lost = Ask(key, "POST", "/v1/payments", payment);
Expect(true, await lost.ContinueWith(ended => ended.Exception?.InnerException is HttpRequestException));
Expect(1, (int?)(await Ask(key, "GET", "/v1/payments?reference=R-7")).Body!["total"]); // It was made: search before you repeat.

await Ask(parentKey, "DELETE", $"/control/accounts/{account["account"]}");
Console.WriteLine("paid, received, refunded, gone after 7 days, and two faults");
