/** Invariants of payments, their events, refunds and idempotency keys. */
import { timeOf } from '../../src/core/ids.ts'
import type { PaymentRow, RefundRow, Rows } from './rows.ts'

/** Every possible history, complete or not: Specification, *States and transitions*. */
const histories = new Set(
  [
    'created',
    'created started',
    'created started submitted success',
    'created started submitted capturable',
    'created started submitted capturable success',
    'created started submitted capturable cancelled',
    'created started failed',
    'created started error',
    'created started cancelled',
    'created failed',
    'created cancelled',
  ].map(text => text.replaceAll(' ', ',')),
)

const codes: Record<string, string[]> = {
  failed: ['P0010', 'P0030'],
  error: ['P0050'],
  cancelled: ['P0040'],
}

export function paymentProblems({ payments, refunds, keys }: Rows): string[] {
  const refundsOf = Map.groupBy(refunds, refund => refund.payment_id)
  const known = new Map(payments.map(payment => [payment.payment_id, payment]))
  return [
    ...payments.flatMap(payment => [
      ...historyProblems(payment),
      ...columnProblems(payment),
      ...refundProblems(payment, refundsOf.get(payment.payment_id) ?? []),
    ]),
    ...refunds
      .filter(({ payment_id, account }) => known.get(payment_id)?.account !== account)
      .map(({ refund_id }) => `I2 refund ${refund_id} is of no payment of its account`),
    ...keyProblems(keys, known),
  ]
}

/** I3, I4 and the part of I5 that is in the history itself. */
function historyProblems({ payment_id, body }: PaymentRow): string[] {
  const { events } = body
  const history = events.map(event => event.status).join()
  const problems = histories.has(history) ? [] : [`I3, I4 ${payment_id}: ${history}`]
  if (events[0]?.at !== timeOf(payment_id))
    problems.push(`I4 ${payment_id} was not created at the time of its first event`)
  if (events.some(({ at }, i) => at < (events[i - 1]?.at ?? at)))
    problems.push(`I4 ${payment_id}: times decrease`)
  for (const [i, { status, code }] of events.entries()) {
    const allowed = i === events.length - 1 ? codes[status] : undefined
    if (allowed ? !code || !allowed.includes(code) : code)
      problems.push(`I5 ${payment_id}: ${status} with code ${code}`)
  }
  return problems
}

/** I5: the columns agree with the body, and there is a card if the history says that one was submitted. */
function columnProblems(payment: PaymentRow): string[] {
  const { payment_id, status, amount, body } = payment
  const last = body.events.at(-1)
  const problems = []
  if (status !== last?.status) problems.push(`I5 ${payment_id} is ${status}, not ${last?.status}`)
  if (amount !== body.given.amount) problems.push(`I5 ${payment_id}: the amounts differ`)
  const agreement = body.given.agreement_id ?? body.given.set_up_agreement ?? null
  if (payment.agreement_id !== agreement) problems.push(`I5 ${payment_id}: the agreements differ`)
  const submitted =
    body.events.some(event => event.status === 'submitted') ||
    last?.code === 'P0010' ||
    last?.code === 'P0050'
  if (submitted !== (body.card !== undefined))
    problems.push(`I5 ${payment_id}: card ${submitted ? 'missing' : 'not expected'}`)
  return problems
}

/** I2: refunds add up, never exceed the amount, and are of successful payments only. */
function refundProblems(payment: PaymentRow, refunds: RefundRow[]): string[] {
  const { payment_id, refunded_amount, amount, status } = payment
  const sum = refunds.reduce((total, refund) => total + refund.amount, 0)
  const problems = []
  if (sum !== refunded_amount)
    problems.push(`I2 ${payment_id}: refunds of ${sum}, the row says ${refunded_amount}`)
  if (sum > amount) problems.push(`I2 ${payment_id}: ${sum} refunded of ${amount}`)
  if (refunds.length > 0 && status !== 'success')
    problems.push(`I2 ${payment_id} is ${status} and has refunds`)
  return problems
}

/** I8: a key made one payment, and a payment was made with at most one key. */
function keyProblems(keys: Rows['keys'], known: Map<string, PaymentRow>): string[] {
  const twice = [...Map.groupBy(keys, key => key.payment_id)].filter(([, of]) => of.length > 1)
  return [
    ...twice.map(([payment_id]) => `I8 ${payment_id} has several idempotency keys`),
    ...keys
      .filter(({ payment_id, account }) => known.get(payment_id)?.account !== account)
      .map(({ idempotency_key }) => `I8 key ${idempotency_key} is of no payment of its account`),
  ]
}
