// Receives webhook messages and refuses those that are not signed with SIGNING_KEY. Needs .NET 10.
// Run it with: SIGNING_KEY=... dotnet run Receiver.cs 8080
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;

var key = Encoding.UTF8.GetBytes(Environment.GetEnvironmentVariable("SIGNING_KEY")!);
using var receiver = new HttpListener();
receiver.Prefixes.Add($"http://127.0.0.1:{args[0]}/");
receiver.Start();

bool IsSigned(byte[] body, string? signature)
{
    var right = Convert.ToHexStringLower(HMACSHA256.HashData(key, body));
    return CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(right), Encoding.UTF8.GetBytes(signature ?? ""));
}

while (true)
{
    var exchange = await receiver.GetContextAsync();
    // The raw bytes: JSON that is parsed and printed again has another signature.
    var body = new MemoryStream();
    await exchange.Request.InputStream.CopyToAsync(body);
    if (IsSigned(body.ToArray(), exchange.Request.Headers["Pay-Signature"]))
    {
        var message = JsonNode.Parse(body.ToArray())!;
        Console.WriteLine($"{message["event_type"]} of payment {message["resource_id"]}");
    }
    else exchange.Response.StatusCode = 401;
    exchange.Response.Close();
}
