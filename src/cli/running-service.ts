import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../core/config.ts'
import { version } from '../core/version.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { JSON_OPTION, type OptionsOf } from './define-command.ts'
import { asTypedHere, proxyHere } from './invocation.ts'
import { note } from './output.ts'
import { parseUrl } from './parse.ts'

/** JSON of a service that may be of another version. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Body = any

export type ServiceAnswer = {
  status: number
  body: Body
  date: string | null
  /** Whether a proxy, an ingress or another program answered. */
  isOfAnother: boolean
}

type Sent = { json?: unknown; form?: Record<string, string>; signal?: AbortSignal }

export type Service = {
  /** Without a slash at its end. */
  url: string
  /** Rejects with exit code 4 if the service cannot be reached or refuses the key. */
  request(method: string, path: string, sent?: Sent): Promise<ServiceAnswer>
  /** As `request`, and rejects with exit code 1 if the response is an error. Resolves to the body. */
  ask(method: string, path: string, sent?: Sent): Promise<Body>
}

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

/** The end of the help of such a command. */
export const NEEDS_SERVICE =
  'Needs FARTHING_URL (default: http://127.0.0.1:3000) and FARTHING_API_KEY.'

/** The service and the key that the options or the settings name. */
export async function connect(config: Config, options: ServiceOptions): Promise<Service> {
  const url = options.url ?? config.url
  const given = options.key === '-' ? (await text(process.stdin)).trim() : options.key
  const key = given ?? config.apiKey
  if (!key)
    throw wrongUsage(
      `there is no API key: set FARTHING_API_KEY in this terminal, or give the key with --key. ${asTypedHere('farthing keys create')} makes one`,
    )
  return serviceAt(url, key)
}

/** Without a key for endpoints that need none. */
export function serviceAt(url: string, key: string | undefined): Service {
  async function request(method: string, path: string, sent: Sent = {}): Promise<ServiceAnswer> {
    const { json, form, signal } = sent
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        // The check leaves out what the commands send.
        'User-Agent': `farthing/${version}`,
        // A form is for the hosted pages, which take no key.
        ...(!form && key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form && { body: new URLSearchParams(form) }),
      ...(signal && { signal }),
    }).catch(error => {
      if (signal?.aborted) throw error
      throw whyUnreachable(url, error)
    })
    const body = await readBody(response)
    const answer = {
      status: response.status,
      body,
      date: response.headers.get('date'),
      isOfAnother: isOfAnother(response, body),
    }
    // A 502 or 504 passes: `listen` asks again.
    if (answer.isOfAnother && response.status < 500) throw new AnotherAnswered(url, response.status)
    if (response.status === 401)
      throw new CommandError(
        `${url} refuses the key: ${body?.description ?? 'HTTP 401'} (FARTHING_API_KEY or --key)`,
        EXIT.unreachable,
      )
    return answer
  }
  return {
    url,
    request,
    async ask(method, path, sent) {
      const answer = await request(method, path, sent)
      if (answer.status >= 400) throw whyRefused(url, method, path, answer)
      return answer.body
    },
  }
}

async function readBody(response: Response): Promise<Body> {
  const body = await response.text().catch(() => '')
  try {
    return JSON.parse(body)
  } catch {
    return undefined // a page, or nothing
  }
}

/** Every error of Farthing but those of the hosted pages is JSON, and these have a header that a proxy's seldom have. */
const isOfAnother = ({ status, headers }: Response, body: Body): boolean =>
  status >= 400 &&
  typeof body?.code !== 'string' &&
  typeof body?.status !== 'string' &&
  !headers.get('content-security-policy')

export function whyRefused(
  url: string,
  method: string,
  path: string,
  { status, body, isOfAnother }: ServiceAnswer,
): CommandError {
  if (isOfAnother) return new AnotherAnswered(url, status)
  const { code, field, header, description } = body ?? {}
  const about = [code, field ?? header].filter(Boolean).join(' ')
  return new CommandError(
    `${method} ${path.replace(/\?.*/, '')} was refused with ${status}${about && ` ${about}`}: ${description ?? 'no description'}`,
  )
}

/** A proxy, an ingress or a firewall answered, or another program: to start the service would not help. */
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

class Unreachable extends CommandError {
  constructor(url: string, { code, message }: { code?: unknown; message?: string }) {
    const proxy = proxyHere(url)
    super(
      `the service at ${url} cannot be reached${proxy ? ` through the proxy ${proxy}` : ''} (${code || message}). Start it with ${asTypedHere('farthing')}, or name another with FARTHING_URL or --url`,
      EXIT.unreachable,
    )
  }
}

/** The reason for an error of fetch. A proxy that refuses CONNECT has answered. */
function whyUnreachable(url: string, error: Error): CommandError {
  let reason = error
  while (reason.cause instanceof Error) reason = reason.cause
  const [, status] = /^Proxy response \((\d+)\)/.exec(reason.message) ?? []
  return status ? new AnotherAnswered(url, status) : new Unreachable(url, reason)
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

/** The last attempt to deliver a message: the service lists the newest first. undefined before the first. */
export const lastAttempt = ({ attempts }: Body): Body => attempts[0]
