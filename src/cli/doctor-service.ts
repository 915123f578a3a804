/** The checks of the running service. */
import { asTypedHere, hint, WITHOUT_PLANS } from '../core/invocation.ts'
import { type Check, checksOf } from './doctor-check.ts'
import { checkWebhooks } from './doctor-webhooks.ts'
import {
  AnotherAnswered,
  type Body,
  behaviourOf,
  FROM_FARTHING,
  type Service,
  serviceAt,
  startOf,
} from './running-service.ts'

/** Milliseconds by which the machines' clocks may differ before the check warns. */
const MOST_APART = 1_000

const NO_SUCH_ENDPOINT = 'P0911'

/** The options and settings for the service on this machine. `keyIsHere`: the database that they name has the key. */
type Expected = {
  url: string
  key: string | undefined
  keyIsHere: boolean | undefined
  pagesUrl: string | undefined
  /** The reason why that database cannot be used. */
  cause?: string | undefined
}

/** Yields the checks one by one. The list ends early if the service cannot be reached or refuses the key. */
export async function* checkService(expected: Expected): AsyncGenerator<Check> {
  const { url, key, keyIsHere, pagesUrl, cause } = expected
  const { ok, fail } = checksOf('service')
  const service = serviceAt(url, key)
  const sentAt = Date.now()
  const ready = await service.request('GET', '/readyz').then(
    answer => (answer.refused instanceof AnotherAnswered ? answer.refused : answer),
    (error: Error) => error,
  )
  if (ready instanceof Error) {
    const cure = ready instanceof AnotherAnswered ? undefined : startOf(url)
    return yield fail(sentence(ready), cure)
  }
  if (ready.body?.code === NO_SUCH_ENDPOINT)
    return yield fail(
      `A Farthing answers at ${new URL(url).origin}, but not below ${new URL(url).pathname}.`,
      hint`FARTHING_URL=${new URL(url).origin} farthing doctor`,
    )
  if (ready.body?.status !== 'ok' && ready.body?.status !== 'unavailable')
    return yield fail(
      `Another program answers at ${url}. FARTHING_URL or --url names the service.`,
      asTypedHere('PORT=3001 farthing'),
    )
  if (ready.status !== 200)
    return yield fail(
      `${url}/readyz returned ${ready.status}: ${cause ?? 'the service is stopping, or cannot use its database'}.`,
    )
  yield ok(`${url} is ready.`)
  yield checkClock(ready.date, sentAt)
  const checked = await checkKey(service, key, keyIsHere)
  yield checked
  if (checked.status === 'fail') return
  const behaviour = await behaviourOf(service)
  if (behaviour) yield checksOf('behaviour').ok(`The behaviour of the account is ${behaviour}.`)
  yield* checkPages(service, pagesUrl)
  yield* checkWebhooks(service)
}

/** Does not capitalise a message that begins with a scheme, such as `http:`. */
const sentence = ({ message }: Error): string =>
  `${message.replace(/^[a-z](?!\w*:)/, letter => letter.toUpperCase())}.`

/** The Date header has whole seconds, so the service's time lies within the second that it names. */
function checkClock(header: string | undefined, sentAt: number): Check {
  const { ok, warn } = checksOf('clock')
  const date = Date.parse(header ?? '')
  const apart = Math.max(sentAt - (date + 999), date - Date.now(), 0)
  if (apart <= MOST_APART)
    return ok('The clocks of this machine and of the service agree within a second.')
  return warn(
    `The clocks of this machine and of the service are ${Math.round(apart / 1000)} seconds apart.`,
  )
}

async function checkKey(service: Service, key: string | undefined, isHere: boolean | undefined) {
  const { ok, fail } = checksOf('key')
  if (!key)
    return fail(
      'There is no API key: set FARTHING_API_KEY, or give one with --key.',
      asTypedHere('farthing keys create'),
    )
  const answer = await service
    .request('GET', '/v1/payments?display_size=1')
    .catch((error: Error) => error)
  if (!(answer instanceof Error))
    return answer.refused ? fail(sentence(answer.refused)) : ok('The service accepts the key.')
  if (isHere)
    return fail(
      'The service refuses the key, but the database that DATABASE_URL names here has it: the service uses another database.',
    )
  return fail(sentence(answer), asTypedHere('farthing keys create'))
}

/** Requests a new payment's page with HEAD, which does not start it. Tries a return_url again that was refused. */
async function* checkPages(service: Service, pagesUrl: string | undefined): AsyncGenerator<Check> {
  const refused = await refusedReturnUrl(service)
  const again = refused === undefined ? undefined : await makePayment(service, refused)
  const isAllowed = again?.status === 201
  const created = isAllowed ? again : await makePayment(service, 'https://example.org/paid')
  yield created.refused
    ? checksOf('pages').fail(sentence(created.refused))
    : await checkLinks(created.body, pagesUrl, service.url)
  if (refused !== undefined && !isAllowed)
    yield checksOf('return_url').warn(
      `Your service sent the return_url ${refused}, which is refused: it must be https, unless a setting names its host.`,
      hint`FARTHING_RETURN_HOSTS=${URL.parse(refused)?.host ?? 'localhost:8080'} farthing`,
    )
}

const REFERENCE = 'doctor'

const makePayment = (service: Service, return_url: string) =>
  service.request('POST', '/v1/payments', {
    isLook: true,
    json: { amount: 1, reference: REFERENCE, description: 'Made by farthing doctor', return_url },
  })

/** The newest return_url over http for which a payment of the user's own service was refused. */
async function refusedReturnUrl(service: Service): Promise<string | undefined> {
  const query = 'operation=createPayment&refused=true&limit=100'
  const { status, body } = await service.request('GET', `/control/requests?${query}`)
  if (status !== 200) return undefined
  return body.results.findLast(
    (request: Body) =>
      request.answer?.body?.field === 'return_url' &&
      request.body?.reference !== REFERENCE &&
      /^http:/i.test(request.body?.return_url ?? ''),
  )?.body.return_url
}

/** `pagesUrl` is FARTHING_PAGES_URL of this machine. */
async function checkLinks({ _links }: Body, pagesUrl: string | undefined, url: string) {
  const { ok, warn, fail } = checksOf('pages')
  const page = new URL(_links.next_url.href)
  const leads = `next_url of a payment leads to ${page.host}`
  const opened = await fetch(page, {
    method: 'HEAD',
    redirect: 'manual',
    headers: { ...WITHOUT_PLANS, ...FROM_FARTHING },
  }).catch((error: Error) => error)
  if (opened instanceof Error)
    return fail(
      `${leads}, which does not open from here.`,
      `Set FARTHING_PAGES_URL of the service to its address as a browser sees it, such as ${url}`,
    )
  if (opened.status !== 200) {
    // If the links to the API are wrong in the same way, FARTHING_BASE_URL is the cause.
    const isOfApi = beforePath(_links.self.href, '/v1/') === beforePath(page.href, '/secure/')
    const name = isOfApi ? 'FARTHING_BASE_URL' : 'FARTHING_PAGES_URL'
    return fail(
      `${leads}, which returns ${opened.status}.`,
      `Correct ${name} of the service: links begin with ${beforePath(page.href, '/secure/')}`,
    )
  }
  if (pagesUrl !== undefined && new URL(pagesUrl).host !== page.host)
    return warn(
      `${leads}, but FARTHING_PAGES_URL is ${pagesUrl} here: the service has another setting.`,
    )
  return ok(`${leads}, which opens from here.`)
}

const beforePath = (href: string, path: string): string => href.slice(0, href.lastIndexOf(path))
