using System.Collections.Concurrent;
using System.Text.Json;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Hosting.Server;
using Xunit;

namespace Payments.Tests;

/// <summary>Run it with: dotnet test. Farthing.cs says what it needs.</summary>
public sealed class PaymentsTests(Farthing farthing) : IClassFixture<Farthing>, IAsyncLifetime
{
    private static readonly object Payment =
        new { amount = 1450, reference = "R-7", description = "A licence", return_url = "https://example.org/back" };

    private readonly ConcurrentQueue<JsonElement> messages = new();
    private readonly string folder = Directory.CreateTempSubdirectory().FullName;
    private Account account = null!;
    private WebApplication? server;

    public async Task InitializeAsync() => account = await farthing.Parent.Make();

    public async Task DisposeAsync()
    {
        if (server != null) await server.DisposeAsync();
        Directory.Delete(folder, recursive: true);
        if (account != null) await farthing.Parent.End(account);
    }

    /// <summary>Your receiver puts what it hands on into <c>messages</c>.</summary>
    private async Task Receive()
    {
        Receiver? receiver = null;
        server = WebApplication.Create();
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
        var webhook = await account.Ask("POST", "/v1/webhooks", new { callback_url = url }, 201);
        receiver = new Receiver(webhook.GetProperty("signing_key").GetString(), folder, message =>
        {
            messages.Enqueue(message);
            return Task.CompletedTask;
        });
    }

    private async Task<string> Create(string path, object fields) =>
        (await account.Ask("POST", path, fields, 201)).GetProperty("payment_id").GetString()!;

    private async Task<JsonElement> Complete(string id, string scenario) =>
        (await account.Ask("POST", $"/control/payments/{id}/complete", new { scenario })).GetProperty("state");

    [Fact(Timeout = 10_000)]
    public async Task A_payment_succeeds_and_your_receiver_gets_each_message_once()
    {
        await Receive();
        var id = await Create("/v1/payments", Payment);
        Assert.Equal("success", (await Complete(id, "success")).GetProperty("status").GetString());
        // The response came after the delivery.
        Assert.Equal(2, messages.Count);
        Assert.All(messages, message => Assert.Equal(id, message.GetProperty("resource_id").GetString()));
    }

    [Fact(Timeout = 10_000)]
    public async Task A_card_is_declined()
    {
        var state = await Complete(await Create("/v1/payments", Payment), "declined");
        Assert.Equal("failed", state.GetProperty("status").GetString());
        Assert.Equal("P0010", state.GetProperty("code").GetString());
    }

    [Fact(Timeout = 10_000)]
    public async Task A_refund_succeeds_after_5_seconds_and_a_payment_is_gone_after_7_days()
    {
        var path = "/v1/payments/" + await Create("/control/payments", new { scenario = "success", amount = 1450 });
        var wanted = new { amount = 500, refund_amount_available = 1450 };
        var refund = await account.Ask("POST", $"{path}/refunds", wanted, 202);
        Assert.Equal("submitted", refund.GetProperty("status").GetString());
        await account.Ask("POST", "/control/clock", new { advance = 5_000 });
        var later = await account.Ask("GET", $"{path}/refunds/{refund.GetProperty("refund_id")}");
        Assert.Equal("success", later.GetProperty("status").GetString());
        await account.Ask("POST", "/control/clock", new { advance = 7 * 24 * 60 * 60 * 1_000 });
        Assert.Equal("P0200", (await account.Ask("GET", path, null, 404)).GetProperty("code").GetString());
    }

    [Fact(Timeout = 10_000)]
    public async Task A_payment_was_made_although_its_answer_was_lost()
    {
        await account.Ask("POST", "/control/plans", new { on = "createPayment", answer = new { status = 503 } }, 201);
        await account.Ask("POST", "/v1/payments", Payment, 503);
        await account.Ask("POST", "/control/plans", new { on = "createPayment", when = "after", reset = true }, 201);
        await Assert.ThrowsAsync<HttpRequestException>(() => account.Ask("POST", "/v1/payments", Payment, 201));
        // Search before you repeat.
        Assert.Equal(1, (await account.Ask("GET", "/v1/payments?reference=R-7")).GetProperty("total").GetInt32());
    }
}
