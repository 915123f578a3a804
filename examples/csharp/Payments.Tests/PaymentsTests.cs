using System.Collections.Concurrent;
using System.Text.Json;
using Xunit;

namespace Payments.Tests;

/// <summary>Run it with: dotnet test. Farthing.cs says what it needs.</summary>
public sealed class PaymentsTests(Farthing farthing) : IClassFixture<Farthing>, IAsyncLifetime
{
    private static readonly object Payment =
        new { amount = 1450, reference = "R-7", description = "A licence", return_url = "https://example.org/back" };

    private readonly ConcurrentQueue<JsonElement> messages = new(); // What your receiver hands on.
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

    private async Task<string> Create(string path, object fields) =>
        (await account.Ask("POST", path, fields, 201)).GetProperty("payment_id").GetString()!;
    private async Task<JsonElement> Complete(string id, string scenario) =>
        (await account.Ask("POST", $"/control/payments/{id}/complete", new { scenario })).GetProperty("state");

    private async Task<JsonElement> State(string id) =>
        (await account.Ask("GET", $"/v1/payments/{id}")).GetProperty("state");

    private static string? Status(JsonElement state) => state.GetProperty("status").GetString();

    /// <summary>Your service reads a recurring payment until it has ended, and only then decides.</summary>
    private async Task<JsonElement> Ended(string id)
    {
        for (var i = 0; i < 50; i++, await Task.Delay(100))
            if (await State(id) is var state && state.GetProperty("finished").GetBoolean()) return state;
        throw new TimeoutException($"payment {id} has not ended");
    }

    [Fact(Timeout = 60_000)]
    public async Task A_payment_succeeds_and_your_receiver_gets_each_message_once()
    {
        server = await account.Receive(folder, messages.Enqueue);
        var id = await Create("/v1/payments", Payment);
        Assert.Equal("success", Status(await Complete(id, "success")));
        await account.Ask("POST", "/control/clock", new { advance = 5_000 }); // Then it is captured.
        for (var i = 0; i < 50 && messages.Count < 2; i++) await Task.Delay(100); // They come after the response.
        Assert.Equal(2, messages.Count);
        Assert.All(messages, message => Assert.Equal(id, message.GetProperty("resource_id").GetString()));
    }

    [Fact(Timeout = 60_000)]
    public async Task A_card_is_declined()
    {
        var state = await Complete(await Create("/v1/payments", Payment), "declined");
        Assert.Equal(("failed", "P0010"), (Status(state), state.GetProperty("code").GetString()));
    }

    [Fact(Timeout = 60_000)]
    public async Task A_payment_is_refunded_once_it_is_captured_and_gone_after_180_days()
    {
        var path = "/v1/payments/" + await Create("/control/payments", new { scenario = "success", amount = 1450 });
        var wanted = new { amount = 500, refund_amount_available = 1450 };
        var early = await account.Ask("POST", $"{path}/refunds", wanted, 400);
        Assert.Equal("P0603", early.GetProperty("code").GetString());
        await account.Ask("POST", "/control/clock", new { advance = 5_000 });
        var refund = await account.Ask("POST", $"{path}/refunds", wanted, 202);
        Assert.Equal("success", Status(await account.Ask("GET", $"{path}/refunds/{refund.GetProperty("refund_id")}")));
        await account.Ask("POST", "/control/clock", new { advance = 180L * 24 * 60 * 60 * 1_000 });
        Assert.Equal("P0200", (await account.Ask("GET", path, null, 404)).GetProperty("code").GetString());
    }

    [Fact(Timeout = 60_000)]
    public async Task A_payment_was_made_although_its_answer_was_lost()
    {
        await account.Ask("POST", "/control/plans", new { on = "createPayment", answer = new { status = 503 } }, 201);
        await account.Ask("POST", "/v1/payments", Payment, 503);
        await account.Ask("POST", "/control/plans", new { on = "createPayment", when = "after", reset = true }, 201);
        await Assert.ThrowsAsync<HttpRequestException>(() => account.Ask("POST", "/v1/payments", Payment, 201));
        // Search before you repeat.
        Assert.Equal(1, (await account.Ask("GET", "/v1/payments?reference=R-7")).GetProperty("total").GetInt32());
    }

    [Fact(Timeout = 60_000)]
    public async Task A_recurring_payment_is_declined_and_succeeds_when_it_is_tried_again()
    {
        var wanted = new { reference = "R-7", description = "A licence" };
        var id = (await account.Ask("POST", "/v1/agreements", wanted, 201)).GetProperty("agreement_id").GetString();
        await Create("/control/payments", new { set_up_agreement = id, scenario = "success" });
        var plan = new { given = new { agreement_id = id }, scenario = "declined", can_retry = true, hold = true };
        await account.Ask("POST", "/control/plans", plan, 201);
        var monthly = new { amount = 1450, reference = "R-7", description = "March",
            authorisation_mode = "agreement", agreement_id = id };
        var first = await Create("/v1/payments", monthly);
        Assert.Equal("created", Status(await State(first))); // As in production: the end comes later.
        await Complete(first, "declined");
        var declined = await Ended(first);
        Assert.Equal(("failed", true), (Status(declined), declined.GetProperty("can_retry").GetBoolean()));
        var again = await Create("/v1/payments", monthly);
        await account.Ask("POST", "/control/clock", new { advance = 2000 }, 200);
        Assert.Equal("success", Status(await Ended(again)));
    }

    /// <summary>What your service shows then. A submitted payment is not paid: its link leads on to Confirm.</summary>
    private async Task<string> PageFor(string id)
    {
        var payment = await account.Ask("GET", $"/v1/payments/{id}");
        var state = payment.GetProperty("state");
        if (Status(state) == "success") return "Thank you";
        return state.GetProperty("finished").GetBoolean() ? "Try again" : "Go on to " + NextUrl(payment);
    }

    private static string? NextUrl(JsonElement payment) =>
        payment.GetProperty("_links").GetProperty("next_url").GetProperty("href").GetString();

    [Fact(Timeout = 60_000)]
    public async Task A_user_who_is_back_from_Confirm_is_led_on_to_it()
    {
        var held = await account.Ask("POST", "/control/payments", new { scenario = "success", confirm = false }, 201);
        var id = held.GetProperty("payment_id").GetString()!;
        Assert.Equal("submitted", Status(held.GetProperty("state")));
        Assert.Equal("Go on to " + NextUrl(held), await PageFor(id));
        await Complete(id, "success");
        Assert.Equal("Thank you", await PageFor(id));
    }
}
