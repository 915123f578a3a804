using System.ComponentModel;
using System.Diagnostics;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Xunit;

namespace Payments.Tests;

/// <summary>
/// One for all tests. FARTHING_URL and FARTHING_API_KEY name a Farthing that runs, with FARTHING_CONTROL=true, and with the
/// hosts of your service and of the tests in FARTHING_RETURN_HOSTS and FARTHING_CALLBACK_HOSTS. Without them the program
/// <c>farthing</c>, or the one that FARTHING names, is started, with the settings below. FARTHING_RECEIVER_HOST is the host
/// of the tests as Farthing reaches it, if that is not 127.0.0.1.
/// </summary>
public sealed class Farthing : IAsyncLifetime
{
    private static readonly TimeSpan LimitToStart = TimeSpan.FromSeconds(20);
    private const string GetIt =
        "Set FARTHING to the path of an executable of a release, or of bin/farthing.js in a clone after npm ci.";
    private Process? process;

    /// <summary>With the key that may make accounts.</summary>
    public Account Parent { get; private set; } = null!;

    public static string Host => Setting("FARTHING_RECEIVER_HOST") ?? "127.0.0.1";

    public async Task InitializeAsync()
    {
        if (Setting("FARTHING_URL") is { } running)
            Parent = new Account(running, Setting("FARTHING_API_KEY") ?? "", "");
        else
            await Start();
    }

    private async Task Start()
    {
        var key = Guid.NewGuid().ToString();
        var program = new ProcessStartInfo(Setting("FARTHING") ?? "farthing") { RedirectStandardOutput = true };
        var hosts = $"localhost,127.0.0.1,{Host}"; // Over http, with any port.
        var settings = new Dictionary<string, string>
        {
            ["PORT"] = "0", ["HOST"] = "127.0.0.1", ["DATABASE_URL"] = "sqlite::memory:", ["LOG_LEVEL"] = "warn",
            ["FARTHING_API_KEY"] = key, ["FARTHING_CONTROL"] = "true", ["FARTHING_CALLBACK_HOSTS"] = hosts,
            ["FARTHING_RETURN_HOSTS"] = hosts,
        };
        foreach (var (name, value) in settings) program.Environment[name] = value;
        try
        {
            process = Process.Start(program)!;
        }
        catch (Win32Exception failed)
        {
            throw new InvalidOperationException($"{failed.Message}. {GetIt}", failed);
        }
        // Farthing is listening on http://127.0.0.1:41231
        using var late =
            new Timer(_ => process.Kill(entireProcessTree: true), null, LimitToStart, Timeout.InfiniteTimeSpan);
        var first = await process.StandardOutput.ReadLineAsync();
        if (first?.Contains(" is listening on ") != true)
        {
            await DisposeAsync();
            throw new InvalidOperationException($"Farthing did not start: {first}");
        }
        Parent = new Account(first.Split(' ')[^1], key, "");
    }

    public Task DisposeAsync()
    {
        process?.Kill(entireProcessTree: true);
        return Task.CompletedTask;
    }

    private static string? Setting(string name) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : null;
}

public sealed record Account(string Url, string Key, string Name)
{
    private static readonly HttpClient Client = new() { Timeout = TimeSpan.FromSeconds(15) };

    /// <summary>An account that shares nothing with another test, and answers as GOV.UK Pay does.</summary>
    public async Task<Account> Make()
    {
        var made = await Ask("POST", "/control/accounts", new { behaviour = "govuk-pay" }, 201);
        return new Account(Url, made.GetProperty("key").GetString()!, made.GetProperty("account").GetString()!);
    }

    public Task End(Account made) => Ask("DELETE", $"/control/accounts/{made.Name}", null, 204);

    /// <summary>Starts your receiver.</summary>
    public async Task<WebApplication> Receive(string folder, Action<JsonElement> handle)
    {
        Receiver? receiver = null;
        var server = WebApplication.Create();
        server.Urls.Add($"http://{(Farthing.Host == "127.0.0.1" ? Farthing.Host : "0.0.0.0")}:0");
        server.MapFallback(async (HttpRequest request) =>
        {
            var body = new MemoryStream();
            await request.Body.CopyToAsync(body);
            return Results.StatusCode(
                await receiver!.Receive(body.ToArray(), request.Headers["Pay-Signature"].ToString()));
        });
        await server.StartAsync();
        var addresses = server.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!;
        var url = $"http://{Farthing.Host}:{new Uri(addresses.Addresses.First()).Port}/";
        var webhook = await Ask("POST", "/control/webhooks", new { callback_url = url }, 201);
        receiver = new Receiver(webhook.GetProperty("signing_key").GetString(), folder, message =>
        {
            handle(message);
            return Task.CompletedTask;
        });
        return server;
    }

    /// <summary>Returns the JSON of the response. Any other status than expected fails the test.</summary>
    public async Task<JsonElement> Ask(string method, string path, object? body = null, int expected = 200)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), Url + path);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", Key);
        if (body != null)
        {
            var sent = JsonSerializer.SerializeToElement(body);
            request.Content = new StringContent(sent.GetRawText(), Encoding.UTF8, "application/json");
            // One recurring payment for each key.
            if (sent.TryGetProperty("authorisation_mode", out var mode) && mode.GetString() == "agreement")
                request.Headers.Add("Idempotency-Key", Guid.NewGuid().ToString());
        }
        using var response = await Client.SendAsync(request);
        var text = await response.Content.ReadAsStringAsync();
        if ((int)response.StatusCode != expected)
            Assert.Fail($"{method} {path}: expected {expected}, got {(int)response.StatusCode} {text}");
        return text == "" ? default : JsonSerializer.Deserialize<JsonElement>(text);
    }
}
