import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** Sends the same POST twice, and prints `reset` or the status for each. */
class LostAnswer {
  public static void main(String[] args) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(System.getenv("FARTHING_URL") + "/v1/payments"))
            .header("Authorization", "Bearer " + System.getenv("FARTHING_API_KEY"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "java")
            .POST(BodyPublishers.ofString(System.getenv("BODY")))
            .build();
    HttpClient client = HttpClient.newHttpClient();
    for (int i = 0; i < 2; i++) {
      try {
        System.out.println(client.send(request, BodyHandlers.ofString()).statusCode());
      } catch (IOException error) {
        System.out.println("reset");
      }
    }
  }
}
