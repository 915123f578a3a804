import { connectFarthing, type Farthing } from 'farthing/testing'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

/** `port` is a free port of this machine. It is chosen first, because links to the pages have it. */
export async function startContainer(
  port: number,
  key: string,
): Promise<{ container: StartedTestContainer; farthing: Farthing }> {
  const container = await new GenericContainer('farthing')
    .withExposedPorts({ container: 3000, host: port })
    .withEnvironment({
      FARTHING_BEHAVIOUR: 'govuk-pay',
      FARTHING_CONTROL: 'true',
      FARTHING_API_KEY: key,
      DATABASE_URL: 'sqlite::memory:',
      FARTHING_PAGES_URL: `http://localhost:${port}`,
      FARTHING_CALLBACK_HOSTS: 'app',
      FARTHING_RETURN_HOSTS: 'localhost,127.0.0.1,app',
    })
    .withWaitStrategy(Wait.forHttp('/readyz', 3000))
    .start()
  return { container, farthing: await connectFarthing({ url: `http://localhost:${port}`, key }) }
}
