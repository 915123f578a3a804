/** The checks of the running service. */
import { lookup } from 'node:dns/promises'
import { type Check, fail, ok, warn } from './check.ts'
import { type Body, nameOf, refusal, type Service, serviceAt } from './running-service.ts'

/** Seconds by which the machines' clocks may differ. The Date header has whole seconds. */
const MOST_APART = 2

/** Yields each check as it is made. Those that need the service or the key end the list if it is missing. */
export async function* checkService(
  url: string,
  key: string | undefined,
  keyIsHere: boolean | undefined,
): AsyncGenerator<Check> {
  const service = serviceAt(url, key ?? '')
  const ready = await service.request('GET', '/readyz').catch((error: Error) => error)
  if (ready instanceof Error) return yield fail('service', sentence(ready), 'farthing')
  if (ready.status !== 200)
    return yield fail(
      'service',
      `${url}/readyz answered ${ready.status}: it is stopping, or its database is away.`,
    )
  yield ok('service', `${url} is ready.`)
  yield checkClock(ready.date)
  const checked = await checkKey(service, key, keyIsHere)
  yield checked
  if (checked.status === 'fail') return
  yield await checkPages(service)
  yield* checkReturnUrls(service)
  yield* checkWebhooks(service)
}

/** An address keeps its first letter. */
const sentence = ({ message }: Error): string =>
  `${message.replace(/^[a-z](?!\w*:)/, letter => letter.toUpperCase())}.`

function checkClock(date: string | null): Check {
  const apart = Math.round(Math.abs(Date.now() - Date.parse(date ?? '')) / 1000)
  if (apart >= MOST_APART)
    return warn(
      'clock',
      `The clocks of this machine and of the service are ${apart} seconds apart.`,
    )
  return ok('clock', 'The clocks of this machine and of the service agree.')
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
    if (answer.status === 200) return ok('key', 'The service takes the key.')
    return fail('key', `${refusal('GET', '/v1/payments', answer.status, answer.body)}.`)
  }
  if (isHere)
    return fail(
      'key',
      'The service does not take the key, but the database that DATABASE_URL names here has it: the service uses another database.',
    )
  return fail('key', sentence(answer), 'farthing keys create')
}

/** Makes the payment, and asks for its page as a browser would. HEAD leaves the payment as it is. */
async function checkPages(service: Service): Promise<Check> {
  const { status, body } = await service.request('POST', '/v1/payments', {
    json: {
      ...{ amount: 1, reference: 'doctor', description: 'Made by farthing doctor' },
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
      `next_url of a payment leads to ${host}, which answers ${opened.status}.`,
      advice,
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

async function* checkWebhooks(service: Service): AsyncGenerator<Check> {
  const { results } = await service.ask('GET', '/v1/webhooks')
  const active: Body[] = results.filter(({ status }: Body) => status === 'ACTIVE')
  if (active.length === 0)
    yield warn(
      'webhooks',
      'There is no active webhook.',
      'farthing listen --forward-to http://localhost:4000/webhooks',
    )
  for (const [address, same] of Map.groupBy(
    active,
    ({ callback_url }) => new URL(callback_url).href,
  ))
    if (same.length > 1)
      yield warn(
        'webhooks',
        `${same.length} active webhooks have the address ${address}: it gets each message ${same.length} times, signed with different keys. Delete all but one: ${same.map(({ external_id }) => external_id).join(', ')}.`,
        `curl -X DELETE ${service.url}/v1/webhooks/${same[0]?.external_id} -H "Authorization: Bearer $FARTHING_API_KEY"`,
      )
  for (const webhook of active) yield await checkWebhook(service, webhook)
}

const LISTENER = /\.listen\.farthing\.invalid$/
const LAST = 10

/** Its name, and what its receiver answered to the last messages: that tells of certificates and addresses too. */
async function checkWebhook(service: Service, webhook: Body): Promise<Check> {
  const { external_id, callback_url } = webhook
  const name = nameOf(webhook)
  const { hostname } = new URL(callback_url)
  const path = `/v1/webhooks/${external_id}/messages?display_size=${LAST}`
  const { results } = await service.ask('GET', path)
  const failed = results.filter((each: Body) => each.last_delivery_status === 'FAILED')
  const [newest] = failed
  if (newest && failed[0] === results[0])
    return warn(
      'webhooks',
      `${name}: ${failed.length} of the last ${results.length} messages failed, the newest with "${newest.latest_attempt?.result ?? 'no attempt'}".`,
      `farthing verify --message ${newest.webhook_message_id}`,
    )
  const address = hostname.replace(/^\[|\]$/g, '')
  if (!LISTENER.test(hostname) && !(await lookup(address).catch(() => undefined)))
    return warn('webhooks', `${name}: the name ${hostname} is not known on this machine.`)
  const count = results.length === 0 ? 'no message yet' : `the newest message was taken`
  return ok('webhooks', `${name}: ${count}.`)
}
