import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Run it with: mvn test. Farthing.java says what it needs. */
@Timeout(60)
class PaymentsTest {
    private static final Map<String, ?> PAYMENT = Map.of(
        "amount", 1450, "reference", "R-7", "description", "A licence", "return_url", "https://example.org/back");

    /** What your receiver hands on. */
    private final Queue<JsonNode> messages = new ConcurrentLinkedQueue<>();
    private Farthing account;
    private HttpServer server;

    @BeforeEach
    void makeAccount() throws Exception {
        account = Farthing.account();
    }

    @AfterEach
    void endAccount() throws Exception {
        if (server != null) server.stop(0);
        if (account != null) account.end();
    }

    private JsonNode complete(String id, String scenario) throws Exception {
        return account.ask("POST", "/control/payments/" + id + "/complete", Map.of("scenario", scenario), 200);
    }

    @Test
    void aPaymentSucceedsAndYourReceiverGetsEachMessageOnce(@TempDir Path folder) throws Exception {
        server = account.receive(folder, messages::add);
        var id = account.ask("POST", "/v1/payments", PAYMENT, 201).get("payment_id").textValue();
        assertEquals("success", complete(id, "success").at("/state/status").textValue());
        account.ask("POST", "/control/clock", Map.of("advance", 5_000), 200); // Then it is captured.
        // Messages come after the response, in any order.
        for (var i = 0; i < 50 && messages.size() < 2; i++) Thread.sleep(100);
        assertEquals(2, messages.size());
        messages.forEach(message -> assertEquals(id, message.get("resource_id").textValue()));
    }

    @Test
    void aCardIsDeclined() throws Exception {
        var id = account.ask("POST", "/v1/payments", PAYMENT, 201).get("payment_id").textValue();
        var state = complete(id, "declined").get("state");
        assertEquals("failed", state.get("status").textValue());
        assertEquals("P0010", state.get("code").textValue());
    }

    @Test
    void aPaymentIsRefundedOnceItIsCapturedAndGoneAfter180Days() throws Exception {
        var made = account.ask("POST", "/control/payments", Map.of("scenario", "success", "amount", 1450), 201);
        var path = "/v1/payments/" + made.get("payment_id").textValue();
        var wanted = Map.of("amount", 500, "refund_amount_available", 1450);
        assertEquals("P0603", account.ask("POST", path + "/refunds", wanted, 400).get("code").textValue());
        account.ask("POST", "/control/clock", Map.of("advance", 5_000), 200);
        var refund = account.ask("POST", path + "/refunds", wanted, 202);
        var later = account.ask("GET", path + "/refunds/" + refund.get("refund_id").textValue(), null, 200);
        assertEquals("success", later.get("status").textValue());
        account.ask("POST", "/control/clock", Map.of("advance", 180L * 24 * 60 * 60 * 1_000), 200);
        assertEquals("P0200", account.ask("GET", path, null, 404).get("code").textValue());
    }

    @Test
    void aPaymentWasMadeAlthoughItsAnswerWasLost() throws Exception {
        var unavailable = Map.of("on", "createPayment", "answer", Map.of("status", 503));
        account.ask("POST", "/control/plans", unavailable, 201);
        account.ask("POST", "/v1/payments", PAYMENT, 503);
        account.ask("POST", "/control/plans", Map.of("on", "createPayment", "when", "after", "reset", true), 201);
        assertThrows(IOException.class, () -> account.ask("POST", "/v1/payments", PAYMENT, 201));
        // Search before you repeat.
        assertEquals(1, account.ask("GET", "/v1/payments?reference=R-7", null, 200).get("total").intValue());
    }

    @Test
    void aRecurringPaymentIsDeclinedAndSucceedsWhenItIsTriedAgain() throws Exception {
        var wanted = Map.of("reference", "R-7", "description", "A licence");
        var id = account.ask("POST", "/v1/agreements", wanted, 201).get("agreement_id").textValue();
        account.ask("POST", "/control/payments", Map.of("set_up_agreement", id, "scenario", "success"), 201);
        var plan = Map.of("given", Map.of("agreement_id", id), "scenario", "declined", "can_retry", true,
            "hold", true);
        account.ask("POST", "/control/plans", plan, 201);
        var monthly = Map.of("amount", 1450, "reference", "R-7", "description", "March",
            "authorisation_mode", "agreement", "agreement_id", id);
        var first = account.ask("POST", "/v1/payments", monthly, 201);
        assertEquals("created", first.at("/state/status").textValue()); // As in production: the end comes later.
        complete(first.get("payment_id").textValue(), "declined");
        var declined = account.ended(first);
        assertEquals("failed", declined.get("status").textValue());
        assertEquals(true, declined.get("can_retry").booleanValue());
        var again = account.ask("POST", "/v1/payments", monthly, 201);
        account.ask("POST", "/control/clock", Map.of("advance", 2000), 200);
        assertEquals("success", account.ended(again).get("status").textValue());
    }

    /** What your service shows when the user is back. A submitted payment is not paid: its link leads on to Confirm. */
    private String pageFor(String id) throws Exception {
        var payment = account.ask("GET", "/v1/payments/" + id, null, 200);
        if (payment.at("/state/status").textValue().equals("success")) return "Thank you";
        if (payment.at("/state/finished").booleanValue()) return "Try again";
        return "Go on to " + payment.at("/_links/next_url/href").textValue();
    }

    @Test
    void aUserWhoIsBackFromConfirmIsLedOnToIt() throws Exception {
        var held = account.ask("POST", "/control/payments", Map.of("scenario", "success", "confirm", false), 201);
        var id = held.get("payment_id").textValue();
        assertEquals("submitted", held.at("/state/status").textValue());
        assertEquals("Go on to " + held.at("/_links/next_url/href").textValue(), pageFor(id));
        complete(id, "success");
        assertEquals("Thank you", pageFor(id));
    }
}
