import { remember } from '../core/remember.ts'
import { iso } from '../core/time.ts'
import { duration } from '../core/values.ts'
import { defineCommand, type OptionsOf } from './define-command.ts'
import { colour, note, oneLine, print, printable, printJson, timeOfDay } from './output.ts'
import { option } from './parse.ts'
import { type Body, connect, keepAsking, serviceOptions } from './running-service.ts'

const OPERATIONS = `
  createPayment searchPayments readPayment listPaymentEvents cancelPayment capturePayment
  authorisePayment refundPayment listRefunds readRefund searchRefunds createAgreement
  searchAgreements readAgreement cancelAgreement searchDisputes createWebhook listWebhooks
  readWebhook deleteWebhook listWebhookMessages openPaymentPage chooseScenario
  openConfirmPage confirmPayment openNoPage journeyByForm methodNotAllowed noSuchEndpoint`
  .trim()
  .split(/\s+/)

const options = {
  follow: { meaning: 'go on until Ctrl-C' },
  refused: { meaning: 'only those that were refused' },
  payment: { value: '<id>', meaning: 'only those of a payment' },
  operation: {
    value: '<name>',
    meaning: 'only this operation, such as createPayment',
    values: OPERATIONS,
  },
  bodies: { meaning: 'show the bodies of requests and responses' },
  since: {
    value: '<time>',
    meaning: 'such as 30s, 10m, 2h on the machine’s clock (default: the newest 100 requests)',
    parse: option(duration(36_525)),
  },
  ...serviceOptions,
} as const
type LogsOptions = OptionsOf<typeof options>

export const logs = defineCommand({
  summary: 'show the requests of your service and its users',
  examples: [
    'farthing logs --refused',
    'farthing logs --follow --bodies',
    'farthing logs --since 10m --json | jq -r .path',
  ],
  options,
  async run({ config, options }) {
    if (options.follow)
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
    const service = await connect(config(), options)
    const { since, payment, operation, refused } = options
    const filter = {
      ...(payment && { payment_id: payment }),
      ...(operation && { operation }),
      ...(refused && { refused: 'true' }),
    }
    const start =
      since === undefined ? { limit: NEWEST } : { since: iso(Date.now() - since), limit: MOST }
    const ids = new Map<string, true>()
    async function page(query: Record<string, string>): Promise<{ count: number; next: string }> {
      const path = `/control/requests?${new URLSearchParams({ ...filter, ...query })}`
      const { results, next } = await service.ask('GET', path)
      for (const request of results) show(request, options, ids)
      return { count: results.length, next }
    }
    let { count, next } = await page(start)
    while (since !== undefined && count > 0)
      ({ count, next } = await page({ after: next, limit: MOST }))
    if (payment && !options.follow && ids.size === 0)
      note(`The record has no request of a payment ${payment}.`)
    if (options.follow)
      await keepAsking(async () => {
        next = (await page({ after: next, limit: MOST, wait: WAIT })).next
      })
  },
})

/** The number of requests without --since. */
const NEWEST = '100'
const MOST = '500'
/** Milliseconds that --follow waits for a request. */
const WAIT = '10000'
/** The number of requests that are remembered, because --follow may get a request again. */
const MOST_SHOWN = 10_000

function show(request: Body, { json, bodies }: LogsOptions, ids: Map<string, true>): void {
  if (ids.has(request.request_id)) return
  remember(ids, request.request_id, true, MOST_SHOWN)
  if (json) return void printJson(request)
  print(lineOf(request))
  for (const { rule, level, title, sentence } of request.in_production ?? []) {
    const finding = colour(level === 'fail' ? 'red' : 'yellow', `${rule} ${level}`)
    print(`  ${finding}  In production: ${title}. ${sentence}`)
  }
  if (!bodies) return
  for (const [mark, body] of [
    ['→', request.body],
    ['←', request.answer?.body],
  ])
    if (body !== null && body !== undefined) print(`  ${mark} ${oneLine(printable(body), 100_000)}`)
}

function lineOf(request: Body): string {
  const { at, method, path, query, status, code, ms } = request
  const { payment_id, reference, from_farthing } = request
  const failed = status === null || status >= 400
  const result = [status ?? 'no answer', code].filter(Boolean).join(' ')
  const about = [payment_id, reference, from_farthing && 'by farthing'].filter(Boolean).join('  ')
  const target = oneLine(path + (query ? `?${query}` : ''))
  const outcome = colour(failed ? 'red' : 'green', result)
  return `${timeOfDay(at)}  ${method} ${target} → ${outcome}  ${ms} ms  ${oneLine(about)}`.trimEnd()
}
