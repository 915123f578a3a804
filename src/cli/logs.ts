import { setTimeout } from 'node:timers/promises'
import type { Config } from '../core/config.ts'
import { colour, oneLine, print, printJson, timeOfDay } from './output.ts'
import {
  type Body,
  connect,
  keepAsking,
  type Service,
  type ServiceOptions,
} from './running-service.ts'

type LogsOptions = ServiceOptions & {
  follow?: boolean
  refused?: boolean
  payment?: string
  operation?: string
  bodies?: boolean
  /** Milliseconds ago. */
  since?: number
  json?: boolean
}

/** Without --since. */
const NEWEST = 100
const MOST = 500
const LOOK_EVERY = 500
/** Milliseconds. A request is listed at the time when it began, so --follow looks back for slow ones. */
const LONGEST_REQUEST = 15_000

/** `farthing logs`: the requests of the account, oldest first. With --follow it does not end by itself. */
export async function logs(config: Config, options: LogsOptions): Promise<void> {
  if (options.follow)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
  const service = await connect(config, options)
  const { since, payment, operation, refused } = options
  const filter = {
    ...(payment && { payment_id: payment }),
    ...(operation && { operation }),
    ...(refused && { refused: 'true' }),
  }
  const start = since === undefined ? { limit: String(NEWEST) } : { since: timeAgo(since) }
  const shown = new Map<string, number>()
  for await (const request of requests(service, { ...filter, ...start }))
    show(request, options, shown)
  if (options.follow) await follow(service, filter, options, shown)
}

const timeAgo = (ms: number): string => new Date(Date.now() - ms).toISOString()

/** With `since` all of them, otherwise one page of the newest. */
async function* requests(service: Service, query: Record<string, string>): AsyncGenerator<Body> {
  const { since, ...rest } = query
  let from: Record<string, string> = since ? { since } : {}
  for (;;) {
    const path = `/control/requests?${new URLSearchParams({ ...rest, ...from })}`
    const { results, next } = await service.ask('GET', path)
    yield* results
    if (since === undefined || results.length < MOST) return
    from = { after: next }
  }
}

async function follow(
  service: Service,
  filter: Record<string, string>,
  options: LogsOptions,
  shown: Map<string, number>,
): Promise<never> {
  return keepAsking(async () => {
    await setTimeout(LOOK_EVERY)
    const since = timeAgo(LONGEST_REQUEST)
    for await (const request of requests(service, { ...filter, since }))
      show(request, options, shown)
    const forgotten = Date.now() - 2 * LONGEST_REQUEST
    for (const [id, at] of shown) if (at < forgotten) shown.delete(id)
  })
}

function show(request: Body, { json, bodies }: LogsOptions, shown: Map<string, number>): void {
  if (shown.has(request.request_id)) return
  shown.set(request.request_id, Date.now())
  if (json) printJson(request)
  else print(lineOf(request))
  if (json || !bodies) return
  for (const [mark, body] of [
    ['→', request.body],
    ['←', request.answer?.body],
  ])
    if (body !== null && body !== undefined) print(`  ${mark} ${oneLine(printable(body), 100_000)}`)
}

function lineOf(request: Body): string {
  const { at, method, path, query, status, code, ms, payment_id, reference } = request
  const failed = status === null || status >= 400
  const result = [status ?? 'no answer', code].filter(Boolean).join(' ')
  const about = [payment_id, reference].filter(Boolean).join('  ')
  const target = oneLine(path + (query ? `?${query}` : ''))
  const outcome = colour(failed ? 'red' : 'green', result)
  return `${timeOfDay(at)}  ${method} ${target} → ${outcome}  ${ms} ms  ${oneLine(about)}`.trimEnd()
}

const printable = (body: unknown): string =>
  typeof body === 'string' ? body : JSON.stringify(body)
