/** The requests that move a payment: Specification, *States and transitions*. */
import { eventsOfMove } from '../../src/pay/differences/messages.ts'
import type { Status } from '../../src/pay/payments/payment.ts'
import {
  type Account,
  type Expected,
  isGone,
  NO_ID,
  NO_TOKEN,
  newNumber,
  type Request,
  refusal,
  type Step,
  type World,
} from './model.ts'
import { type Agreement, makeActive } from './model-agreements.ts'
import {
  amountLeft,
  isOpen,
  known,
  type Payment,
  paymentPath,
  refundStatus,
  shown,
  shownRefund,
  statusOf,
} from './model-payments.ts'
import { notify } from './model-webhooks.ts'

/** Moves a payment through `statuses`; the last one has the code. */
function move(world: World, payment: Payment, statuses: Status[], code?: string): void {
  const from = statusOf(payment)
  const last = statuses.length - 1
  statuses.forEach((status, i) => {
    payment.events.push({ status, at: world.now, ...(i === last && code && { code }) })
  })
  payment.chosen = false
  const to = statusOf(payment)
  const isAuthorised = from !== 'capturable' && (to === 'success' || to === 'capturable')
  if (isAuthorised && payment.mode === 'web' && payment.agreement)
    makeActive(world, payment.agreement)
  notify(world, payment, eventsOfMove.specification({ from, to, code }))
}

const authorised = ({ delayed }: Payment): Status => (delayed ? 'capturable' : 'success')

export type NewPayment = {
  mode: Payment['mode']
  amount: number
  delayed: boolean
  /** The agreement to use in agreement mode or to set up in web mode. `unknown`: an agreement of no account. */
  agreement?: Agreement | 'unknown' | undefined
  idempotencyKey?: string | undefined
}

export const RETURN_URL = 'https://shops.example.org/paid'

export function create(world: World, account: Account, wanted: NewPayment): Step {
  const { mode, agreement, idempotencyKey } = wanted
  const request = creation(account, wanted)
  const usable =
    typeof agreement === 'object' && agreement.account === account ? agreement : undefined
  if (mode === 'web' && agreement && (!usable || usable.status === 'cancelled'))
    return { request, expected: refusal(400, 'P0103') }
  if (mode === 'agreement' && usable?.status !== 'active')
    return { request, expected: refusal(400, 'P0102') }
  const key = idempotencyKey && `${account} ${idempotencyKey}`
  const before = key && world.keys.get(key)
  if (before && !isGone(world, before)) return { request, expected: refusal(409, 'P0191') }
  const number = newNumber(world)
  const payment: Payment = {
    name: `{payment-${number}}`,
    token: `{token-${number}}`,
    account,
    created: world.now,
    mode,
    amount: wanted.amount,
    delayed: wanted.delayed,
    agreement: usable,
    events: [{ status: 'created', at: world.now }],
    chosen: false,
    carded: mode === 'agreement',
    refunds: [],
  }
  world.payments.push(payment)
  if (key) world.keys.set(key, payment)
  if (mode === 'agreement') move(world, payment, ['started', 'submitted', authorised(payment)])
  return { request, expected: { status: 201, body: shown(payment) } }
}

function creation(account: Account, wanted: NewPayment): Request {
  const { mode, amount, delayed, agreement, idempotencyKey } = wanted
  const agreement_id = typeof agreement === 'object' ? agreement.name : NO_ID
  const json = {
    amount,
    reference: 'PITCH-2207',
    description: 'Market pitch',
    delayed_capture: delayed,
    ...(mode === 'web' ? { return_url: RETURN_URL } : { authorisation_mode: mode }),
    ...(mode === 'web' && agreement && { set_up_agreement: agreement_id }),
    ...(mode === 'agreement' && { agreement_id }),
  }
  const headers: Record<string, string> = idempotencyKey
    ? { 'Idempotency-Key': idempotencyKey }
    : {}
  return { method: 'POST', path: '/v1/payments', account, json, headers }
}

export function cancel(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'POST', path: `${paymentPath(payment)}/cancel`, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0500') }
  if (!isOpen(found) && statusOf(found) !== 'capturable')
    return { request, expected: refusal(400, 'P0501') }
  move(world, found, ['cancelled'], 'P0040')
  return { request, expected: { status: 204 } }
}

export function capture(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'POST', path: `${paymentPath(payment)}/capture`, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P1000') }
  if (statusOf(found) !== 'capturable') return { request, expected: refusal(409, 'P1003') }
  move(world, found, ['success'])
  return { request, expected: { status: 204 } }
}

/** POST /v1/auth with the token of any payment. */
export function authorise(world: World, payment: Payment | undefined, isDeclined: boolean): Step {
  const json = {
    one_time_token: payment && payment.mode !== 'agreement' ? payment.token : NO_TOKEN,
    card_number: isDeclined ? '4000000000000002' : '4444333322221111',
    cardholder_name: 'A Caller',
    cvc: '123',
    expiry_date: '04/31',
  }
  const request = { method: 'POST', path: '/v1/auth', json } as const
  if (payment?.mode !== 'moto_api' || isGone(world, payment))
    return { request, expected: refusal(400, 'P1211') }
  if (payment.carded) return { request, expected: refusal(400, 'P1212') }
  if (statusOf(payment) !== 'created') return { request, expected: refusal(400, 'P1211') }
  payment.carded = true
  if (isDeclined) {
    move(world, payment, ['started', 'failed'], 'P0010')
    return { request, expected: refusal(402, 'P0010') }
  }
  move(world, payment, ['started', 'submitted', authorised(payment)])
  return { request, expected: { status: 204 } }
}

export type Action = 'open' | 'success' | 'declined' | 'error' | 'cancel' | 'confirm'

/** One request to the hosted pages: opens the first page, chooses a scenario there, or confirms. */
export function visit(world: World, payment: Payment | undefined, action: Action): Step {
  const token = payment && payment.mode !== 'agreement' ? payment.token : NO_TOKEN
  const path = `/secure/${token}`
  const request: Request =
    action === 'open'
      ? { method: 'GET', path }
      : action === 'confirm'
        ? { method: 'POST', path: `${path}/confirm`, form: {} }
        : { method: 'POST', path, form: { scenario: action } }
  const found = payment?.mode === 'web' && !isGone(world, payment) ? payment : undefined
  return { request, expected: found ? visited(world, found, action) : { status: 404 } }
}

function visited(world: World, payment: Payment, action: Action): Expected {
  if (!isOpen(payment)) return { status: 303, location: RETURN_URL }
  const path = `/secure/${payment.token}`
  if (action === 'confirm') {
    if (!payment.chosen) return { status: 303, location: path }
    move(world, payment, ['submitted', authorised(payment)])
    return { status: 303, location: RETURN_URL }
  }
  if (action === 'cancel') {
    move(world, payment, ['failed'], 'P0030')
    return { status: 200 }
  }
  if (statusOf(payment) === 'created') payment.events.push({ status: 'started', at: world.now })
  if (action === 'open') return { status: 200 }
  if (action === 'success') {
    payment.chosen = true
    return { status: 303, location: `${path}/confirm` }
  }
  if (action === 'error') move(world, payment, ['error'], 'P0050')
  else move(world, payment, ['failed'], 'P0010')
  return { status: 200 }
}

/** An amount, a percentage of the rest, or some pence more than the rest. */
export type Asked = { pence: number } | { percent: number } | { over: number }

/** `belief` is the rest according to the client: nothing, the truth, or a penny too much. */
export function refund(
  world: World,
  account: Account,
  payment: Payment | undefined,
  asked: Asked,
  belief: 'none' | 'right' | 'wrong',
): Step {
  const left = payment ? amountLeft(payment) : 0
  const amount =
    'pence' in asked
      ? asked.pence
      : 'over' in asked
        ? left + asked.over
        : Math.max(1, Math.floor((left * asked.percent) / 100))
  const refund_amount_available = { none: undefined, right: left, wrong: left + 1 }[belief]
  const json = { amount, refund_amount_available }
  const path = `${paymentPath(payment)}/refunds`
  const request = { method: 'POST', path, account, json } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0600') }
  if (refundStatus(found) !== 'available') return { request, expected: refusal(400, 'P0603') }
  if (belief === 'wrong') return { request, expected: refusal(412, 'P0604') }
  if (amount > left) return { request, expected: refusal(400, 'P0603') }
  const made = { name: `{refund-${newNumber(world)}}`, amount, created: world.now }
  found.refunds.push(made)
  notify(world, found, ['card_payment_refunded'])
  const { payment_id, ...body } = shownRefund(world, found, made)
  return { request, expected: { status: 202, body } }
}

const first = ({ payments }: World): Payment | undefined => payments[0]

/** Requests to the first payment of a world, by their names. */
export const steps = {
  open: world => visit(world, first(world), 'open'),
  success: world => visit(world, first(world), 'success'),
  declined: world => visit(world, first(world), 'declined'),
  error: world => visit(world, first(world), 'error'),
  leave: world => visit(world, first(world), 'cancel'),
  confirm: world => visit(world, first(world), 'confirm'),
  authorise: world => authorise(world, first(world), false),
  'authorise declined': world => authorise(world, first(world), true),
  cancel: world => cancel(world, 0, first(world)),
  capture: world => capture(world, 0, first(world)),
  'refund 60': world => refund(world, 0, first(world), { pence: 60 }, 'none'),
  'refund 30': world => refund(world, 0, first(world), { pence: 30 }, 'none'),
  'refund the rest': world => refund(world, 0, first(world), { percent: 100 }, 'none'),
} satisfies Record<string, (world: World) => Step>
