import { setTimeout as sleep } from 'node:timers/promises'
import { newSecret } from '../core/ids.ts'
import { hint } from '../core/invocation.ts'
import { plainPounds } from '../core/money.ts'
import { integer } from '../core/values.ts'
import { DECLINED_CARD, MOCK_CARD } from '../pay/card.ts'
import { type AuthorisationMode, type Choice, choices } from '../pay/payments/payment.ts'
import { newPayment as newPaymentSchema } from '../pay/payments/request.ts'
import { impossibleFor } from '../pay/payments/scenario.ts'
import { webhookName } from '../pay/webhooks/webhook.ts'
import type { Json } from '../platform/http/fields.ts'
import { isSignatureRefusal } from '../tools/explain/wrong-signature.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { defineCommand, type OptionsOf } from './define-command.ts'
import { colour, colouredStatus, oneLine, print, printJson } from './output.ts'
import { didYouMean, option } from './parse.ts'
import { flagOf } from './program.ts'
import { type Body, behaviourOf, connect, type Service, serviceOptions } from './running-service.ts'

const DEFAULT_AMOUNT = 1450

const MOST_PENCE = 10_000_000
const parsePence = option(integer(1, MOST_PENCE))

const options = {
  amount: {
    value: '<pence>',
    meaning: `the amount, 0 to ${MOST_PENCE} (default: ${DEFAULT_AMOUNT})`,
    parse: option(integer(0, MOST_PENCE)),
  },
  reference: { value: '<text>', meaning: 'the reference (default: CLI- and six letters)' },
  set: {
    value: '<name=value>',
    meaning: 'a field of the payment, also metadata.KEY',
    parse: addField,
    isRepeatable: true,
  },
  delayedCapture: { meaning: 'leave it capturable' },
  capture: { meaning: 'capture it afterwards; implies --delayed-capture' },
  refund: {
    value: '[pence]',
    meaning: 'refund it afterwards, all by default',
    parse: (text: string): number | true => text === 'all' || parsePence(text),
  },
  moto: { meaning: 'a moto_api payment, paid by card' },
  agreement: { value: '<id>', meaning: 'a payment with this agreement' },
  hold: { meaning: 'leave a payment with --agreement started' },
  cannotRetry: { meaning: 'declined for good: the agreement becomes inactive' },
  ...serviceOptions,
} as const
type PayOptions = OptionsOf<typeof options>

export type PaymentToMake = PayOptions & {
  scenario: Choice | 'cancel_by_api'
  /** Waits for the capture, if that follows the success only later. */
  untilCaptured?: true
}

/** The exit code for a payment that did not end as asked. */
export const ENDED_OTHERWISE = {
  [EXIT.failed]: 'the payment ended in another way than asked',
} as const

export const pay = defineCommand({
  summary: 'make a payment and take it to its end',
  examples: [
    'farthing pay',
    'farthing pay declined --reference R-7',
    'farthing pay --set metadata.team=ledger --json | jq .payment.state',
  ],
  argument: {
    value: '[scenario]',
    meaning: choices.join(', '),
    values: choices,
    initial: 'success',
  },
  options,
  exitCodes: ENDED_OTHERWISE,
  async run({ config, argument: scenario, options }) {
    const { moto, agreement, capture, hold } = options
    refuseGivenTwice(options)
    if (moto && agreement !== undefined)
      throw wrongUsage('a payment with --agreement is not a moto_api payment: leave out --moto')
    const impossible = impossibleFor({ mode: modeOf(options) }, { scenario, ...endOf(options) })
    if (impossible) throw wrongUsage(`${impossible.field} ${impossible.rule}`)
    if ((scenario !== 'success' || hold) && (capture || options.refund !== undefined))
      throw wrongUsage('only a payment that succeeds can be captured or refunded')
    return carryOutAndShow(await connect(config(), options), { ...options, scenario })
  },
})

/** The parts of a schema that `withField` reads. Metadata may have any name, also a name with dots. */
type Fields = {
  type?: string | readonly string[]
  properties?: Record<string, Fields>
  additionalProperties?: Fields
}

/** The first = separates name and value. */
function addField(text: string, fields?: Json): Json {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw wrongUsage('It must be NAME=VALUE.')
  return withField(fields, name.split('.'), value, newPaymentSchema)
}

/** Throws for a field that the API does not know: it would ignore it. */
function withField(input: unknown, path: string[], value: string, schema: Fields): Json {
  const { properties = {}, additionalProperties } = schema
  const [name = '', ...rest] = additionalProperties ? [path.join('.')] : path
  const inner = additionalProperties ?? new Map(Object.entries(properties)).get(name)
  if (!inner)
    throw wrongUsage(`A payment has no field ${name}.${didYouMean(name, Object.keys(properties))}`)
  const fields = input as Json | undefined // by the schema
  const isWhole = rest.length === 0 || typeof fields?.[name] !== 'object'
  if (fields && Object.hasOwn(fields, name) && isWhole) throw wrongUsage(`${name} is given twice.`)
  const set = rest.length > 0 ? withField(fields?.[name], rest, value, inner) : typed(value, inner)
  return { ...fields, [name]: set }
}

/** A number or boolean where the field, or a value of metadata, may be one. */
function typed(text: string, { type }: Fields): unknown {
  const types = [type].flat()
  const isNumber =
    /^\d{1,15}$/.test(text) && (types.includes('integer') || types.includes('number'))
  const isFlag = /^(true|false)$/.test(text) && types.includes('boolean')
  return isNumber || isFlag ? JSON.parse(text) : text
}

const modeOf = ({ moto, agreement }: PayOptions): AuthorisationMode =>
  moto ? 'moto_api' : agreement === undefined ? 'web' : 'agreement'

/** The options that set a field which --set may set too. */
const GIVING: Record<string, readonly (keyof PayOptions)[]> = {
  amount: ['amount'],
  reference: ['reference'],
  agreement_id: ['agreement'],
  authorisation_mode: ['moto', 'agreement'],
  delayed_capture: ['delayedCapture', 'capture'],
}

function refuseGivenTwice({ set = {}, ...options }: PayOptions): void {
  for (const field of Object.keys(set)) {
    const other = GIVING[field]?.find(name => name in options)
    if (other)
      throw wrongUsage(`${flagOf(other)} and --set ${field} are the same field: leave one out`)
  }
}

const endOf = ({ hold, cannotRetry }: PayOptions) => ({
  ...(hold && { hold: true as const }),
  ...(cannotRetry && { can_retry: false }),
})

export async function carryOutAndShow(service: Service, wanted: PaymentToMake) {
  const began = performance.now()
  const { payment_id } = await carryOut(service, wanted)
  const ms = Math.round(performance.now() - began)
  const payment = await service.ask('GET', `/v1/payments/${payment_id}`)
  const path = `/control/messages?payment_id=${payment_id}`
  const [{ status, body }, behaviour] = await Promise.all([
    service.request('GET', path),
    behaviourOf(service),
  ])
  const hasConsole = status === 200
  const messages: Body[] = hasConsole ? body.results : []
  const console = hasConsole ? `${service.url}/console/payments/${payment_id}` : null
  const isAsAsked = endedAsAsked(payment, wanted)
  if (wanted.json) printJson({ payment, behaviour, messages, console })
  else await show(service, payment, messages, { ms, behaviour, console, isAsAsked })
  return isAsAsked ? 0 : EXIT.failed
}

/** Takes the payment to its end as a user would. Other ends need control. Returns the new payment. */
async function carryOut(service: Service, wanted: PaymentToMake): Promise<Body> {
  const { scenario, capture, refund } = wanted
  // No card number has an error.
  const isError = wanted.moto && scenario === 'error'
  if (wanted.hold || isError || (wanted.agreement && scenario !== 'success')) {
    const json = { ...newPayment(wanted), scenario, ...endOf(wanted) }
    return service.ask('POST', '/control/payments', { json })
  }
  const payment = await service.ask('POST', '/v1/payments', { json: newPayment(wanted) })
  const path = `/v1/payments/${payment.payment_id}`
  if (scenario === 'cancel_by_api') await service.ask('POST', `${path}/cancel`)
  else if (payment.authorisation_mode === 'moto_api') await payByCard(service, payment, scenario)
  else if (payment.authorisation_mode === 'web') await payOnPages(service, payment, scenario)
  else await readWhile(service, path, ({ state }) => /^(?:created|started)$/.test(state.status))
  if (capture) await service.ask('POST', `${path}/capture`)
  if (refund !== undefined || wanted.untilCaptured) {
    const isUncaptured = ({ state, settlement_summary }: Body) =>
      state.status === 'success' && !settlement_summary.captured_date
    // At once where control is on: the account's clock may stand still.
    if (isUncaptured(await service.ask('GET', path)))
      await service.request('POST', `/control/payments/${payment.payment_id}/complete`, {
        json: { capture: true },
      })
    const { refund_summary } = await readWhile(service, path, isUncaptured)
    if (refund === undefined) return payment
    const { amount_available } = refund_summary
    const amount = refund === true ? amount_available : refund
    const json = { amount, refund_amount_available: amount_available }
    await service.ask('POST', `${path}/refunds`, { json })
  }
  return payment
}

/** Milliseconds between two reads of the payment. */
const LOOK_EVERY = 500
const MOST_LOOKS = 20

/** Under govuk-pay a charge comes 2 seconds after its creation, and a capture, which refunds need, 5 after success. */
async function readWhile({ ask }: Service, path: string, isDue: (payment: Body) => boolean) {
  for (let look = 1; ; look++) {
    const payment = await ask('GET', path)
    if (!isDue(payment) || look === MOST_LOOKS) return payment
    await sleep(LOOK_EVERY)
  }
}

function newPayment(wanted: PaymentToMake): object {
  const mode = modeOf(wanted)
  return {
    amount: wanted.amount ?? DEFAULT_AMOUNT,
    reference: wanted.reference ?? `CLI-${newSecret().slice(0, 6).toUpperCase()}`,
    description: 'Made by farthing pay',
    ...(mode === 'web' ? { return_url: 'https://example.org/paid' } : { authorisation_mode: mode }),
    agreement_id: wanted.agreement,
    ...((wanted.delayedCapture || wanted.capture) && { delayed_capture: true }),
    ...wanted.set,
  }
}

/** Posts the token in a field of a form, because the address of the pages may not open from here. */
async function payOnPages(service: Service, payment: Body, scenario: Choice): Promise<void> {
  const { chargeTokenId } = payment._links.next_url_post.params
  const steps = [{}, { step: 'details', scenario }, { step: 'confirm' }]
  for (const step of steps.slice(0, scenario === 'success' ? 3 : 2)) {
    const form = { chargeTokenId, ...step }
    const { status } = await service.request('POST', '/secure', { form })
    if (status >= 400)
      throw new CommandError(
        `the hosted pages at ${service.url}/secure returned ${status}: the payment ${payment.payment_id} is left as it is`,
      )
  }
}

/** Payment required: the status of POST /v1/auth for a declined card. */
const DECLINED = 402

async function payByCard(service: Service, payment: Body, scenario: Choice): Promise<void> {
  const { one_time_token } = payment._links.auth_url_post.params
  const year = String((Number(payment.created_date.slice(2, 4)) + 3) % 100).padStart(2, '0')
  const json = {
    one_time_token,
    card_number: scenario === 'declined' ? DECLINED_CARD : MOCK_CARD,
    cvc: '123',
    expiry_date: `12/${year}`,
    cardholder_name: 'A. Payer',
  }
  const { status, body } = await service.request('POST', '/v1/auth', { json })
  if (status >= 400 && !(status === DECLINED && scenario === 'declined'))
    throw new CommandError(`the card was refused with ${status}: ${body?.description}`)
}

/** The end of each scenario: the code, or the status if there is no code. */
const ends: Record<PaymentToMake['scenario'], string> = {
  success: 'success',
  declined: 'P0010',
  error: 'P0050',
  cancel: 'P0030',
  cancel_by_api: 'P0040',
}

function endedAsAsked(
  { state, delayed_capture }: Body,
  { scenario, capture, hold }: PaymentToMake,
): boolean {
  if (hold) return state.status === 'started'
  const isCapturable = scenario === 'success' && delayed_capture && !capture
  return (state.code ?? state.status) === (isCapturable ? 'capturable' : ends[scenario])
}

type Outcome = { ms: number; behaviour: string | null; console: string | null; isAsAsked: boolean }

async function show(
  service: Service,
  { payment_id, reference, amount, state, refund_summary }: Body,
  messages: Body[],
  { ms, behaviour, console, isAsAsked }: Outcome,
): Promise<void> {
  const { events } = await service.ask('GET', `/v1/payments/${payment_id}/events`)
  const end = [state.status, state.code].filter(Boolean).join(' ')
  const refunded = refund_summary.amount_submitted
  const steps = [
    ...events.slice(0, -1).map((event: Body) => event.state.status),
    colour(isAsAsked && !state.code ? 'green' : 'red', end),
    ...(refunded ? [`refunded £${plainPounds(refunded)}`] : []),
  ].join(' › ')
  print(`${payment_id}  ${oneLine(reference)}  £${plainPounds(amount)}   ${steps}   ${ms} ms`)
  const names = new Map<string, string>()
  for (const message of messages) {
    const { webhook_id, message_id, event_type, delivery, attempts } = message
    // Without control nobody can read the webhooks of an account that behaves as GOV.UK Pay.
    const read = () =>
      service.askWebhooks('GET', `/${webhook_id}`).then(webhookName, () => webhook_id)
    const name = names.get(webhook_id) ?? oneLine(await read(), 40)
    names.set(webhook_id, name)
    const delivered = delivery === 'SUCCESSFUL'
    const count = attempts.length > 1 ? ` (${attempts.length} attempts)` : ''
    const [last] = attempts // the newest is first
    const result = colouredStatus(delivered, oneLine(last?.result ?? delivery))
    // For other responses the signature is not the cause.
    const isRefused = !delivered && isSignatureRefusal(last?.status_code)
    const advice = isRefused ? hint`   farthing verify --ask ${message_id}` : ''
    print(`  ${name}   ${event_type}   ${result}${count}${advice}`)
  }
  if (behaviour) print(`  behaviour ${oneLine(behaviour)}`)
  if (console) print(`  ${console}`)
}
