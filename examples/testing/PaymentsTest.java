// Needs Java 17 and a Farthing that was started with FARTHING_CONTROL=true and FARTHING_CALLBACK_HOSTS=127.0.0.1.
// Reads FARTHING_URL and FARTHING_API_KEY. Run it with: java PaymentsTest.java
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class PaymentsTest {
    static final String URL = System.getenv("FARTHING_URL"), PARENT_KEY = System.getenv("FARTHING_API_KEY");
    static final String PAYMENT = """
        {"amount": 1450, "reference": "R-7", "description": "A licence", "return_url": "https://example.org/back"}""";

    /** The status and the body of the response, also of an error. */
    static HttpResponse<String> ask(String key, String method, String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(URL + path)).header("Authorization", "Bearer " + key)
            .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null) request.header("Content-Type", "application/json");
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** A text of the JSON. Your tests surely have a library for that. */
    static String in(HttpResponse<String> response, String name) {
        var found = java.util.regex.Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(response.body());
        if (!found.find()) throw new AssertionError("no " + name + " in " + response.body());
        return found.group(1);
    }

    static void expect(Object wanted, Object found) {
        if (!wanted.equals(found)) throw new AssertionError("expected " + wanted + ", found " + found);
    }

    public static void main(String[] args) throws Exception {
        var account = ask(PARENT_KEY, "POST", "/control/accounts", null);
        var key = in(account, "key");

        // A webhook is signed over its raw bytes.
        var body = new CompletableFuture<byte[]>();
        var signature = new CompletableFuture<String>();
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            body.complete(exchange.getRequestBody().readAllBytes());
            signature.complete(exchange.getRequestHeaders().getFirst("Pay-Signature"));
            exchange.sendResponseHeaders(200, -1);
        });
        server.start();
        var webhook = ask(key, "POST", "/v1/webhooks", "{\"callback_url\": \"http://127.0.0.1:" + server.getAddress().getPort() + "/\"}");
        var id = in(ask(key, "POST", "/v1/payments", PAYMENT), "payment_id");
        expect("success", in(ask(key, "POST", "/control/payments/" + id + "/complete", "{\"scenario\": \"success\"}"), "status"));
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(in(webhook, "signing_key").getBytes(), "HmacSHA256"));
        server.stop(0);
        expect(true, MessageDigest.isEqual(HexFormat.of().formatHex(mac.doFinal(body.get())).getBytes(), signature.get().getBytes()));

        // A refund succeeds after 5 seconds, and a payment is gone after 7 days.
        var refund = ask(key, "POST", "/v1/payments/" + id + "/refunds", "{\"amount\": 500, \"refund_amount_available\": 1450}");
        expect("submitted", in(refund, "status"));
        ask(key, "POST", "/control/clock", "{\"advance\": 5000}");
        expect("success", in(ask(key, "GET", "/v1/payments/" + id + "/refunds/" + in(refund, "refund_id"), null), "status"));
        ask(key, "POST", "/control/clock", "{\"advance\": 604800000}");
        expect("P0200", in(ask(key, "GET", "/v1/payments/" + id, null), "code"));

        // A 503 and a lost answer can be planned.
        ask(key, "POST", "/control/plans", "{\"on\": \"createPayment\", \"answer\": {\"status\": 503}}");
        expect(503, ask(key, "POST", "/v1/payments", PAYMENT).statusCode());
        ask(key, "POST", "/control/plans", "{\"on\": \"createPayment\", \"when\": \"after\", \"reset\": true}");
        try {
            ask(key, "POST", "/v1/payments", PAYMENT);
            throw new AssertionError("the response was not lost");
        } catch (java.io.IOException lost) { // It was made: search before you repeat.
            expect("R-7", in(ask(key, "GET", "/v1/payments?reference=R-7", null), "reference"));
        }
        ask(PARENT_KEY, "DELETE", "/control/accounts/" + in(account, "account"), null);
        System.out.println("paid, received, refunded, gone after 7 days, and two faults");
    }
}
