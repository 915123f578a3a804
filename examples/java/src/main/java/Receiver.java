import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Receives the webhook messages of GOV.UK Pay, each once. Needs Java 17 and Jackson. In Spring a controller returns
 * {@code ResponseEntity.status(receiver.receive(body, signature)).build()}, with {@code @RequestBody byte[] body} and
 * {@code @RequestHeader("Pay-Signature") String signature}.
 */
public final class Receiver implements HttpHandler {
    private static final int MOST_BYTES = 1_000_000;
    private final ObjectMapper mapper = new ObjectMapper();
    private final String signingKey;
    private final Path folder;
    private final Consumer<JsonNode> handle;

    /**
     * Calls {@code handle} with each message. The folder keeps which messages came. With several machines use a table
     * with a unique column instead, in the transaction of what {@code handle} does.
     */
    public Receiver(String signingKey, Path folder, Consumer<JsonNode> handle) throws IOException {
        if (signingKey == null || signingKey.isEmpty())
            throw new IllegalArgumentException("SIGNING_KEY is not set, and without it anybody could sign messages");
        this.signingKey = signingKey;
        this.folder = Files.createDirectories(folder);
        this.handle = handle;
    }

    /** Takes the request's body, byte for byte, and the header Pay-Signature. */
    static boolean isSigned(byte[] body, String paySignature, String signingKey) {
        if (paySignature == null || signingKey.isEmpty()) return false;
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(signingKey.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            var expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(StandardCharsets.UTF_8);
            return MessageDigest.isEqual(expected, paySignature.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has HmacSHA256", impossible);
        }
    }

    /** Returns the status of the response. */
    public int receive(byte[] body, String paySignature) throws IOException {
        if (body.length > MOST_BYTES) return 413;
        if (!isSigned(body, paySignature, signingKey)) return 401;
        JsonNode message;
        try {
            message = mapper.readTree(body);
        } catch (IOException notJson) {
            return 400;
        }
        var id = message.path("webhook_message_id").textValue();
        if (id == null || !id.matches("[0-9a-z]{1,64}")) return 400;
        var file = folder.resolve(id);
        try {
            Files.createFile(file);
        } catch (FileAlreadyExistsException came) {
            return 200; // It came before: each message is tried more than once.
        }
        try {
            handle.accept(message);
        } catch (RuntimeException | Error failed) {
            Files.delete(file); // The next attempt may succeed.
            throw failed;
        }
        return 200;
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            var status = 500;
            try {
                var signature = exchange.getRequestHeaders().getFirst("Pay-Signature");
                status = exchange.getRequestMethod().equals("POST")
                    ? receive(exchange.getRequestBody().readNBytes(MOST_BYTES + 1), signature)
                    : 405;
            } catch (RuntimeException failed) {
                System.err.println(failed);
            }
            exchange.sendResponseHeaders(status, -1);
        }
    }

    /** Its argument is the port. */
    public static void main(String[] args) throws IOException {
        var messages = Path.of(System.getenv().getOrDefault("MESSAGES", "messages"));
        var receiver = new Receiver(System.getenv("SIGNING_KEY"), messages, message -> System.out.println(
            message.path("event_type").asText() + " of payment " + message.path("resource_id").asText()));
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", receiver);
        server.start();
    }
}
