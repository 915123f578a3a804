/** Payments and refunds as the API shows them: Specification, *Payment* and *Other resources*. */
import type { Status } from '../../src/pay/payments/payment.ts'
import { type Account, isGone, iso, NO_ID, refusal, type Step, type World } from './model.ts'
import type { Agreement } from './model-agreements.ts'

export type Refund = { name: string; amount: number; created: number }

export type Payment = {
  name: string
  token: string
  account: Account
  created: number
  mode: 'web' | 'moto_api' | 'agreement'
  amount: number
  delayed: boolean
  /** The agreement that it uses or sets up. */
  agreement?: Agreement | undefined
  /** Oldest first. */
  events: { status: Status; at: number; code?: string }[]
  /** The user chose success on the first page and has not confirmed yet. */
  chosen: boolean
  carded: boolean
  refunds: Refund[]
}

export const statusOf = ({ events }: Payment): Status => events.at(-1)?.status ?? 'created'

export const isOpen = (payment: Payment): boolean =>
  ['created', 'started'].includes(statusOf(payment))

export const amountLeft = ({ amount, refunds }: Payment): number =>
  refunds.reduce((left, refund) => left - refund.amount, amount)

export function refundStatus(payment: Payment): 'available' | 'full' | 'pending' | 'unavailable' {
  if (statusOf(payment) === 'success') return amountLeft(payment) > 0 ? 'available' : 'full'
  return isOpen(payment) ? 'pending' : 'unavailable'
}

const shownState = ({ status, code }: Payment['events'][number]) => ({
  status,
  finished: ['success', 'failed', 'error', 'cancelled'].includes(status),
  code,
})

/** A payment as searches show it: without the links that hold a token. */
function shownFound(payment: Payment) {
  const { name, mode, events, amount, created, delayed } = payment
  const last = events.at(-1) ?? { status: 'created', at: created }
  const captured = events.find(event => event.status === 'success')?.at
  const wasRefused = last.code === 'P0010' || last.code === 'P0050'
  return {
    payment_id: name,
    amount,
    state: shownState(last),
    created_date: iso(created),
    refund_summary: {
      status: refundStatus(payment),
      amount_available: amountLeft(payment),
      amount_submitted: amount - amountLeft(payment),
    },
    settlement_summary: {
      capture_submit_time: captured === undefined ? undefined : iso(captured),
    },
    delayed_capture: delayed,
    authorisation_mode: mode,
    net_amount: captured !== undefined ? amount : wasRefused ? 0 : undefined,
  }
}

/** A payment as GET and webhook messages show it. Only an open payment has the link with its token. */
export function shown(payment: Payment) {
  const { token, mode } = payment
  const open = isOpen(payment)
  return {
    ...shownFound(payment),
    _links: {
      next_url_post: open && mode === 'web' ? { params: { chargeTokenId: token } } : undefined,
      auth_url_post:
        open && mode === 'moto_api' ? { params: { one_time_token: token } } : undefined,
    },
  }
}

export const known = (world: World, account: Account, payment: Payment | undefined) =>
  payment?.account === account && !isGone(world, payment) ? payment : undefined

export const paymentPath = (payment: Payment | undefined) =>
  `/v1/payments/${payment?.name ?? NO_ID}`

export function read(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'GET', path: paymentPath(payment), account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0200') }
  return { request, expected: { status: 200, body: shown(found) } }
}

export function readEvents(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'GET', path: `${paymentPath(payment)}/events`, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0300') }
  const events = found.events.map(event => ({ state: shownState(event), updated: iso(event.at) }))
  return { request, expected: { status: 200, body: { payment_id: found.name, events } } }
}

/** All payments of an account on one page, newest first. A world has fewer than 500. */
export function listPayments(world: World, account: Account): Step {
  const results = world.payments.filter(payment => known(world, account, payment)).map(shownFound)
  return {
    request: { method: 'GET', path: '/v1/payments', account },
    expected: { status: 200, body: { total: results.length, results: results.toReversed() } },
  }
}

export const shownRefund = (world: World, payment: Payment, refund: Refund) => ({
  refund_id: refund.name,
  payment_id: payment.name,
  created_date: iso(refund.created),
  amount: refund.amount,
  status: world.now - refund.created < 5_000 ? 'submitted' : 'success',
})

export function readRefunds(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'GET', path: `${paymentPath(payment)}/refunds`, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0800') }
  const refunds = found.refunds.map(refund => shownRefund(world, found, refund))
  const body = { payment_id: found.name, _embedded: { refunds } }
  return { request, expected: { status: 200, body } }
}
