import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { DEFAULT_URL } from '../app/settings.ts'
import type { Config } from '../core/config.ts'
import {
  asTypedHere,
  hint,
  isLoopback,
  proxyHere,
  proxyOptions,
  WITHOUT_PLANS,
} from '../core/invocation.ts'
import { parsedJson } from '../core/values.ts'
import { version } from '../core/version.ts'
import { http, loadHttps } from '../platform/http/node-http.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { JSON_OPTION, type OptionsOf } from './define-command.ts'
import { note } from './output.ts'
import { parseUrl } from './parse.ts'

/** JSON of a service that may be of another version. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Body = any

type Sent = {
  json?: unknown
  form?: Record<string, string>
  signal?: AbortSignal
  /** The request only looks, as each GET does: no plan acts on it. */
  isLook?: boolean
}

export type Service = ReturnType<typeof serviceAt>
export type ServiceAnswer = Awaited<ReturnType<Service['request']>>

/** The last options of every command that speaks to a service. */
export const serviceOptions = {
  url: { value: '<url>', meaning: 'the service (default: FARTHING_URL)', parse: parseUrl },
  key: {
    value: '<key>',
    meaning: 'the API key; - reads it from standard input (default: FARTHING_API_KEY)',
  },
  ...JSON_OPTION,
} as const
export type ServiceOptions = OptionsOf<typeof serviceOptions>

/** The service and the key that the options or the settings name. */
export async function connect(config: Config, options: ServiceOptions): Promise<Service> {
  const url = options.url ?? config.url
  const option = options.key === '-' ? (await text(process.stdin)).trim() : options.key
  const key = option ?? config.apiKey
  if (!key)
    throw wrongUsage(
      hint`there is no API key: set FARTHING_API_KEY in this terminal, or give the key with --key. farthing keys create makes one`,
    )
  return serviceAt(url, key)
}

/** The check leaves out requests with this header, which the commands send. */
export const FROM_FARTHING = { 'User-Agent': `farthing/${version}` }

const NO_CONTENT = 204

/** Milliseconds without a byte. */
const LONGEST_SILENCE = 300_000

/** `url` has no slash at its end. `key` is undefined for endpoints that need none. */
export function serviceAt(url: string, key: string | undefined) {
  const client = url.startsWith('https:') ? loadHttps() : http
  // Node's own agent would not know of `exceptLoopback`.
  let agent: InstanceType<typeof client.Agent> | undefined
  /** Rejects with exit code 4 if the service cannot be reached or refuses the key. */
  async function request(method: string, path: string, sent: Sent = {}) {
    const { json, form, signal, isLook = method === 'GET' } = sent
    const text = form ? String(new URLSearchParams(form)) : JSON.stringify(json)
    const headers = {
      ...FROM_FARTHING,
      ...(isLook && WITHOUT_PLANS),
      // A form is for the hosted pages, which take no key.
      ...(!form && key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
    }
    const ask = async () => {
      agent ??= new client.Agent({
        keepAlive: true,
        timeout: LONGEST_SILENCE,
        ...proxyOptions(url),
      })
      return exchange(client.request(url + path, { agent, method, headers, signal }), text)
    }
    const { response, body } = await ask().catch(error => {
      if (signal?.aborted) throw error
      // A proxy that refuses CONNECT has answered.
      throw error.statusCode
        ? new AnotherAnswered(url, error.statusCode)
        : new Unreachable(url, error)
    })
    const { statusCode: status = 0 } = response
    // Farthing redirects, and returns a page, only for a form.
    const isSuccess = status < 400 && (form || status === NO_CONTENT || body !== undefined)
    /** An `AnotherAnswered` if the response is not Farthing's. */
    const refused = isSuccess ? undefined : refusalOf(url, `${method} ${path}`, response, body)
    // A 502 or 504 passes: `listen` asks again.
    if (refused instanceof AnotherAnswered && status < 500) throw refused
    if (status === 401)
      throw new CommandError(
        `${url} refuses the key: ${body?.description ?? 'HTTP 401'} (FARTHING_API_KEY or --key)`,
        EXIT.unreachable,
      )
    return { status, body, date: response.headers.date, refused }
  }
  return {
    url,
    request,
    /** As `ask`, for `path` below /v1/webhooks, or below /control/webhooks if the behaviour is govuk-pay. */
    async askWebhooks(method: string, path = ''): Promise<Body> {
      const { status, body, refused } = await request(method, `/v1/webhooks${path}`)
      const isElsewhere = status === 404 && ['P0911', 404].includes(body?.code)
      if (isElsewhere) return this.ask(method, `/control/webhooks${path}`)
      if (refused) throw refused
      return body
    },
    /** As `request`, and rejects with exit code 1 if the response is an error. Resolves to the body. */
    async ask(method: string, path: string, sent?: Sent): Promise<Body> {
      const { body, refused } = await request(method, path, sent)
      if (refused) throw refused
      return body
    },
  }
}

/** Follows no redirect. fetch could do this too, but loading it takes as long as two starts of Node. */
async function exchange(request: ClientRequest, sent?: string) {
  request.on('timeout', () => request.destroy(new Error('it does not respond')))
  const [response] = (await once(request.end(sent), 'response')) as [IncomingMessage]
  // A page is not JSON.
  return { response, body: parsedJson(await text(response)) as Body }
}

function refusalOf(
  url: string,
  request: string,
  { statusCode = 0, headers }: IncomingMessage,
  body: Body,
): CommandError {
  const { code, status, field, header, message, description = message } = body ?? {}
  // All errors of Farthing are JSON, except pages. Those have a header that the pages of proxies seldom have.
  const isJson = [code, status].some(value => typeof value === 'string') || code === statusCode
  const isPage = statusCode >= 400 && headers['content-security-policy'] !== undefined
  if (!isJson && !isPage) return new AnotherAnswered(url, statusCode)
  const about = [statusCode, code, field ?? header].filter(Boolean).join(' ')
  return new CommandError(
    `${request.replace(/\?.*/, '')} was refused with ${about}: ${description ?? 'no description'}`,
  )
}

/** A proxy, an ingress, a firewall or another program answered: starting the service would not help. */
export class AnotherAnswered extends CommandError {
  constructor(url: string, status: number | string) {
    const proxy = proxyHere(url)
    super(
      proxy
        ? `the proxy ${proxy} answered ${status} in place of the service at ${url}. To go past it, add ${new URL(url).hostname} to NO_PROXY`
        : `not Farthing answered ${status} at ${url}, but a proxy or an ingress before it, or another program. Look there, or name another service with FARTHING_URL or --url`,
      EXIT.unreachable,
    )
  }
}

/** The command that starts a service at this address; undefined for an address of another machine. */
export function startOf(url: string): string | undefined {
  const { hostname, port } = new URL(url)
  if (!isLoopback(hostname)) return undefined
  const isUsual = port === new URL(DEFAULT_URL).port
  return isUsual ? asTypedHere('farthing') : hint`PORT=${port || '80'} farthing`
}

class Unreachable extends CommandError {
  constructor(url: string, { code, message }: { code?: unknown; message?: string }) {
    const proxy = proxyHere(url)
    super(
      `the service at ${url} cannot be reached${proxy ? ` through the proxy ${proxy}` : ''} (${code || message}). Start it ${startOf(url)?.replace(/^/, 'with ') ?? 'there'}, or name another with FARTHING_URL or --url`,
      EXIT.unreachable,
    )
  }
}

/** The time of the account's clock, which may not be this machine's, in milliseconds. */
export const accountTime = async ({ ask }: Service): Promise<number> =>
  Date.parse((await ask('GET', '/control')).clock.now)

/** The account's behaviour; null if there is nothing below /control, or the service is older than behaviours. */
export async function behaviourOf({ request }: Service): Promise<string | null> {
  const { status, body } = await request('GET', '/control')
  return (status === 200 && body.behaviour) || null
}

/** Milliseconds until a service that failed is asked again. */
export const RETRY_AFTER = 250

/** Asks again and again. Says once that the service cannot be reached, and once that it is back. */
export async function keepAsking(ask: (wasAway: boolean) => Promise<void>): Promise<never> {
  let away = false
  for (;;) {
    try {
      await ask(away)
      if (away) note('The service is back.')
      away = false
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      if (!away) note(`${error.message}. Trying again.`)
      away = true
      await setTimeout(RETRY_AFTER)
    }
  }
}
