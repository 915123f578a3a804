// Receives webhook messages and refuses those that are not signed with SIGNING_KEY. Needs Java 17.
// Run it with: SIGNING_KEY=... java Receiver.java 8080
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Receiver {
    static boolean isSigned(byte[] body, String signature) throws GeneralSecurityException {
        var key = System.getenv("SIGNING_KEY").getBytes(StandardCharsets.UTF_8);
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        var right = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(StandardCharsets.UTF_8);
        return signature != null && MessageDigest.isEqual(right, signature.getBytes(StandardCharsets.UTF_8));
    }

    static void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            // The raw bytes: JSON that is parsed and printed again has another signature.
            var body = exchange.getRequestBody().readAllBytes();
            var signed = isSigned(body, exchange.getRequestHeaders().getFirst("Pay-Signature"));
            if (signed) System.out.println(new String(body, StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(signed ? 200 : 401, -1);
        } catch (GeneralSecurityException impossible) { // Every Java has HmacSHA256.
            throw new IOException(impossible);
        }
    }

    public static void main(String[] args) throws IOException {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/", Receiver::receive);
        server.start();
    }
}
