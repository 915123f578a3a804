/** The checks of the running service. */
import { type Check, fail, ok, warn } from './check.ts'
import { checkWebhooks } from './doctor-webhooks.ts'
import { type Body, refusal, type Service, serviceAt } from './running-service.ts'

/** Milliseconds by which the machines' clocks may differ. */
const MOST_APART = 1_000

/** The expectations of the service. `keyIsHere`: the local database has the key. */
export type Expected = {
  url: string
  key: string | undefined
  keyIsHere: boolean | undefined
  pagesUrl: string | undefined
}

/** Yields the checks one by one. The list ends early if the service cannot be reached or refuses the key. */
export async function* checkService(expected: Expected): AsyncGenerator<Check> {
  const { url, key, keyIsHere, pagesUrl } = expected
  const service = serviceAt(url, key ?? '')
  const asked = Date.now()
  const ready = await service.request('GET', '/readyz').catch((error: Error) => error)
  if (ready instanceof Error) return yield fail('service', sentence(ready), 'farthing')
  if (ready.body?.status !== 'ok' && ready.body?.status !== 'unavailable')
    return yield fail(
      'service',
      `Another program answers at ${url}. FARTHING_URL or --url names the service.`,
      'PORT=3001 farthing',
    )
  if (ready.status !== 200)
    return yield fail(
      'service',
      `${url}/readyz returned ${ready.status}: the service is stopping, or cannot use its database.`,
    )
  yield ok('service', `${url} is ready.`)
  yield checkClock(ready.date, asked)
  const checked = await checkKey(service, key, keyIsHere)
  yield checked
  if (checked.status === 'fail') return
  yield await checkPages(service, pagesUrl)
  yield* checkReturnUrls(service)
  yield* checkWebhooks(service)
}

/** An address keeps its first letter. */
const sentence = ({ message }: Error): string =>
  `${message.replace(/^[a-z](?!\w*:)/, letter => letter.toUpperCase())}.`

/** The Date header has whole seconds, so the service's time lies within the second that it names. */
function checkClock(header: string | null, asked: number): Check {
  const date = Date.parse(header ?? '')
  const apart = Math.max(asked - (date + 999), date - Date.now(), 0)
  if (apart <= MOST_APART)
    return ok('clock', 'The clocks of this machine and of the service agree within a second.')
  return warn(
    'clock',
    `The clocks of this machine and of the service are ${Math.round(apart / 1000)} seconds apart.`,
  )
}

async function checkKey(
  service: Service,
  key: string | undefined,
  isHere: boolean | undefined,
): Promise<Check> {
  if (!key)
    return fail(
      'key',
      'There is no API key: set FARTHING_API_KEY, or give one with --key.',
      'farthing keys create',
    )
  const answer = await service
    .request('GET', '/v1/payments?display_size=1')
    .catch((error: Error) => error)
  if (!(answer instanceof Error)) {
    if (answer.status === 200) return ok('key', 'The service accepts the key.')
    return fail('key', `${refusal('GET', '/v1/payments', answer.status, answer.body)}.`)
  }
  if (isHere)
    return fail(
      'key',
      'The service refuses the key, but the database that DATABASE_URL names here has it: the service uses another database.',
    )
  return fail('key', sentence(answer), 'farthing keys create')
}

/** Creates a payment and requests its page as a browser would, but with HEAD, which does not start the payment. */
async function checkPages(service: Service, pagesUrl: string | undefined): Promise<Check> {
  const { status, body } = await service.request('POST', '/v1/payments', {
    json: {
      amount: 1,
      reference: 'doctor',
      description: 'Made by farthing doctor',
      return_url: 'https://example.org/paid',
    },
  })
  if (status !== 201) return fail('pages', `${refusal('POST', '/v1/payments', status, body)}.`)
  const { href } = body._links.next_url
  const { host } = new URL(href)
  const advice =
    'Set FARTHING_PAGES_URL of the service to its address as a browser sees it, such as http://localhost:3000'
  const opened = await fetch(href, { method: 'HEAD', redirect: 'manual' }).catch(
    (error: Error) => error,
  )
  if (opened instanceof Error)
    return fail(
      'pages',
      `next_url of a payment leads to ${host}, which does not open from here.`,
      advice,
    )
  if (opened.status !== 200)
    return fail(
      'pages',
      `next_url of a payment leads to ${host}, which returns ${opened.status}.`,
      advice,
    )
  if (pagesUrl !== undefined && new URL(pagesUrl).host !== host)
    return warn(
      'pages',
      `next_url of a payment leads to ${host}, but FARTHING_PAGES_URL is ${pagesUrl} here: the service has another setting.`,
    )
  return ok('pages', `next_url of a payment leads to ${host}, which opens from here.`)
}

/** Looks for payments of the user's own service that were refused for their return_url. */
async function* checkReturnUrls(service: Service): AsyncGenerator<Check> {
  const query = 'operation=createPayment&refused=true&limit=100'
  const { status, body } = await service.request('GET', `/control/requests?${query}`)
  if (status !== 200) return
  const refused = body.results.filter((each: Body) => each.answer?.body?.field === 'return_url')
  const http = refused.find((each: Body) => /^http:/i.test(each.body?.return_url ?? ''))
  if (!http) return
  const host = URL.parse(http.body.return_url)?.host ?? 'localhost:8080'
  yield warn(
    'return_url',
    `Your service sent the return_url ${http.body.return_url}, which was refused: it must be https, unless a setting names its host.`,
    `FARTHING_RETURN_HOSTS=${host} farthing`,
  )
}
