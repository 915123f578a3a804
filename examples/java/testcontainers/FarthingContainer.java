import java.time.Duration;
import org.testcontainers.Testcontainers;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * Farthing in a container, for {@code @Container static final FarthingContainer FARTHING = new FarthingContainer(8081)}.
 * Needs org.testcontainers:junit-jupiter and the image of a release.
 */
final class FarthingContainer extends GenericContainer<FarthingContainer> {
    static final String API_KEY = "key-of-these-tests";
    private final int receiverPort;

    /** The port of this machine on which your receiver listens, at all addresses. */
    FarthingContainer(int receiverPort) {
        super(DockerImageName.parse("localhost/farthing:0.1.0"));
        this.receiverPort = receiverPort;
        withExposedPorts(3000);
        withEnv("FARTHING_API_KEY", API_KEY);
        withEnv("FARTHING_BEHAVIOUR", "govuk-pay");
        withEnv("FARTHING_CONTROL", "true");
        withEnv("DATABASE_URL", "sqlite::memory:");
        withEnv("FARTHING_CALLBACK_HOSTS", "host.testcontainers.internal");
        withEnv("FARTHING_RETURN_HOSTS", "localhost,127.0.0.1");
        waitingFor(Wait.forHttp("/readyz").forPort(3000).withStartupTimeout(Duration.ofSeconds(10)));
    }

    @Override
    public void start() {
        Testcontainers.exposeHostPorts(receiverPort);
        super.start();
    }

    /** For your service and the browser: links to pages begin with the address of the request. */
    String url() {
        return "http://" + getHost() + ":" + getMappedPort(3000);
    }

    /** For POST /control/webhooks. */
    String receiverUrl() {
        return "http://host.testcontainers.internal:" + receiverPort + "/";
    }
}
