using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Payments;

/// <summary>Receives the webhook messages of GOV.UK Pay, each once, in ASP.NET Core.</summary>
public sealed class Receiver
{
    private const int MostBytes = 1_000_000;
    private readonly string signingKey;
    private readonly string folder;
    private readonly Func<JsonElement, Task> handle;

    /// <summary>
    /// Calls <paramref name="handle"/> with each message. The folder keeps which messages came. With several machines use
    /// a table with a unique column instead, in the transaction of what <paramref name="handle"/> does.
    /// </summary>
    public Receiver(string? signingKey, string folder, Func<JsonElement, Task> handle)
    {
        if (string.IsNullOrEmpty(signingKey))
            throw new ArgumentException("SIGNING_KEY is not set, and without it anybody could sign messages");
        this.signingKey = signingKey;
        this.folder = Directory.CreateDirectory(folder).FullName;
        this.handle = handle;
    }

    /// <summary>Takes the request's body, byte for byte, and the header Pay-Signature.</summary>
    public static bool IsSigned(byte[] body, string paySignature, string signingKey)
    {
        if (signingKey == "") return false;
        var digest = HMACSHA256.HashData(Encoding.UTF8.GetBytes(signingKey), body);
        var expected = Encoding.UTF8.GetBytes(Convert.ToHexString(digest).ToLowerInvariant());
        return CryptographicOperations.FixedTimeEquals(expected, Encoding.UTF8.GetBytes(paySignature));
    }

    /// <summary>Receives at this path. Other methods than POST get 405.</summary>
    public void Map(IEndpointRouteBuilder app, string path) => app.MapPost(path, async (HttpRequest request) =>
    {
        var body = new MemoryStream();
        var buffer = new byte[16_384];
        for (int count; (count = await request.Body.ReadAsync(buffer)) > 0;)
        {
            body.Write(buffer, 0, count);
            if (body.Length > MostBytes) return Results.StatusCode(413);
        }
        return Results.StatusCode(await Receive(body.ToArray(), request.Headers["Pay-Signature"].ToString()));
    });

    /// <summary>Returns the status of the response.</summary>
    public async Task<int> Receive(byte[] body, string paySignature)
    {
        if (!IsSigned(body, paySignature, signingKey)) return 401;
        if (Parse(body) is not ({ } id, var message)) return 400;
        var file = Path.Combine(folder, id);
        try
        {
            new FileStream(file, FileMode.CreateNew).Dispose();
        }
        catch (IOException) when (File.Exists(file))
        {
            return 200; // It came before: each message is tried more than once.
        }
        try
        {
            await handle(message);
            return 200;
        }
        catch
        {
            File.Delete(file); // The next attempt may succeed.
            throw;
        }
    }

    private static (string? Id, JsonElement Message) Parse(byte[] body)
    {
        try
        {
            var message = JsonSerializer.Deserialize<JsonElement>(body);
            var isObject = message.ValueKind == JsonValueKind.Object;
            if (!isObject || !message.TryGetProperty("webhook_message_id", out var found)) return default;
            var id = found.ValueKind == JsonValueKind.String ? found.GetString()! : "";
            return (Regex.IsMatch(id, @"\A[0-9a-z]{1,64}\z") ? id : null, message);
        }
        catch (JsonException)
        {
            return default;
        }
    }
}
