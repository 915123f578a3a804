import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * FARTHING_URL and FARTHING_API_KEY name a Farthing that runs, with FARTHING_CONTROL=true, and with the hosts of your
 * service and of the tests in FARTHING_RETURN_HOSTS and FARTHING_CALLBACK_HOSTS. Without them the program {@code
 * farthing}, or the one that FARTHING names, is started, with the settings below. FARTHING_RECEIVER_HOST is the host of
 * the tests as Farthing reaches it, if that is not 127.0.0.1.
 */
final class Farthing {
    static final String HOST = System.getenv().getOrDefault("FARTHING_RECEIVER_HOST", "127.0.0.1");
    /** Over http, with any port. */
    private static final String HOSTS = "localhost,127.0.0.1," + HOST;
    private static final String GET_IT =
        "Set FARTHING to the path of an executable of a release, or of bin/farthing.js in a clone after npm ci.";
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int SECONDS_TO_START = 20;
    private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(LIMIT).build();
    private static final ObjectMapper MAPPER = new ObjectMapper();
    /** One for all tests, with the key that may make accounts. */
    private static final CompletableFuture<Farthing> SHARED = CompletableFuture.supplyAsync(Farthing::start);

    /** For your service. */
    final String url;
    /** For your service. */
    final String key;
    private final String name;

    private Farthing(String url, String key, String name) {
        this.url = url;
        this.key = key;
        this.name = name;
    }

    private static Farthing start() {
        var running = System.getenv("FARTHING_URL");
        if (running != null) return new Farthing(running, System.getenv("FARTHING_API_KEY"), null);
        var key = UUID.randomUUID().toString();
        var builder = new ProcessBuilder(System.getenv().getOrDefault("FARTHING", "farthing"))
            .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(Map.of("PORT", "0", "HOST", "127.0.0.1", "DATABASE_URL", "sqlite::memory:",
            "LOG_LEVEL", "warn", "FARTHING_API_KEY", key, "FARTHING_CONTROL", "true",
            "FARTHING_CALLBACK_HOSTS", HOSTS, "FARTHING_RETURN_HOSTS", HOSTS));
        try {
            var process = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
            var afterLimit = CompletableFuture.delayedExecutor(SECONDS_TO_START, TimeUnit.SECONDS);
            var late = CompletableFuture.runAsync(process::destroyForcibly, afterLimit);
            var first = process.inputReader().readLine(); // Farthing is listening on http://127.0.0.1:41231
            late.cancel(false);
            if (first == null || !first.contains(" is listening on "))
                throw new IllegalStateException("Farthing did not start: " + first);
            return new Farthing(first.substring(first.lastIndexOf(' ') + 1), key, null);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed.getMessage() + ". " + GET_IT, failed);
        }
    }

    /** An account that shares nothing with another test. */
    static Farthing account() throws Exception {
        var parent = SHARED.get();
        var made = parent.ask("POST", "/control/accounts", Map.of("behaviour", "govuk-pay"), 201);
        return new Farthing(parent.url, made.get("key").textValue(), made.get("account").textValue());
    }

    /** Starts your receiver. */
    HttpServer receive(Path folder, Consumer<JsonNode> handle) throws Exception {
        var server = HttpServer.create(new InetSocketAddress(HOST.equals("127.0.0.1") ? HOST : "0.0.0.0", 0), 0);
        var url = "http://" + HOST + ":" + server.getAddress().getPort() + "/";
        var webhook = ask("POST", "/control/webhooks", Map.of("callback_url", url), 201);
        server.createContext("/", new Receiver(webhook.get("signing_key").textValue(), folder, handle));
        server.start();
        return server;
    }

    /** Ends the account. */
    void end() throws Exception {
        SHARED.get().ask("DELETE", "/control/accounts/" + name, null, 204);
    }

    /** Your service reads a recurring payment until it has ended, and only then decides. */
    JsonNode ended(JsonNode payment) throws Exception {
        for (var i = 0; i < 50; i++) {
            var state = ask("GET", "/v1/payments/" + payment.get("payment_id").textValue(), null, 200).get("state");
            if (state.get("finished").booleanValue()) return state;
            Thread.sleep(100);
        }
        throw new AssertionError("not ended: " + payment);
    }

    /** Returns the JSON of the response. Any other status than expected fails the test. */
    JsonNode ask(String method, String path, Object body, int expected) throws IOException, InterruptedException {
        var sent = body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(body));
        var request = HttpRequest.newBuilder(URI.create(url + path)).method(method, sent).timeout(LIMIT.multipliedBy(2))
            .header("Authorization", "Bearer " + key).header("Content-Type", "application/json");
        if (body instanceof Map<?, ?> fields && "agreement".equals(fields.get("authorisation_mode")))
            request.header("Idempotency-Key", UUID.randomUUID().toString()); // One recurring payment for each key.
        try {
            var response = CLIENT.send(request.build(), BodyHandlers.ofString());
            if (response.statusCode() != expected)
                throw new AssertionError("%s %s: expected %d, got %d %s"
                    .formatted(method, path, expected, response.statusCode(), response.body()));
            return MAPPER.readTree(response.body());
        } catch (ConnectException refused) {
            throw new IOException("there is no Farthing at " + url, refused);
        }
    }
}
