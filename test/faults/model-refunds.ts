/** Refunds: SPEC *Other resources* and *Limits*. */
import {
  type Account,
  answer,
  isGone,
  iso,
  link,
  NO_ID,
  newNumber,
  refusal,
  type Step,
  type World,
} from './model.ts'
import { known, type Payment, statusOf } from './model-payments.ts'
import { type PageQuery, searchPage } from './model-search.ts'
import { tell } from './model-webhooks.ts'

export type Refund = { name: string; amount: number; created: number }

const sum = (refunds: Refund[]): number =>
  refunds.reduce((total, refund) => total + refund.amount, 0)

export function refundSummary(payment: Payment) {
  const { amount, refunds } = payment
  const status = statusOf(payment)
  const submitted = sum(refunds)
  const left = amount - submitted
  const whether =
    status === 'success'
      ? left > 0
        ? 'available'
        : 'full'
      : status === 'created' || status === 'started'
        ? 'pending'
        : 'unavailable'
  return { status: whether, amount_available: left, amount_submitted: submitted }
}

const pathOf = (payment: Payment | undefined) => `/v1/payments/${payment?.name ?? NO_ID}/refunds`

function shownRefund(world: World, payment: Payment, { name, amount, created }: Refund) {
  return {
    refund_id: name,
    payment_id: payment.name,
    created_date: iso(created),
    amount,
    status: world.now - created < 5_000 ? 'submitted' : 'success',
    settlement_summary: {},
    _links: {
      self: link(`${pathOf(payment)}/${name}`),
      payment: link(`/v1/payments/${payment.name}`),
    },
  }
}

/** How much is asked back: a part of what is left, in hundredths, or something that cannot be. */
export type Asked =
  | { percent: number }
  | { faulty: unknown; status: number; code: string }
  /** More than is left, by this many pence. */
  | { over: number }

export function refund(
  world: World,
  account: Account,
  payment: Payment | undefined,
  asked: Asked,
  /** What the client believes to be left: nothing, the truth or more than the truth. */
  belief: 'none' | 'right' | 'wrong',
): Step {
  const left = payment ? payment.amount - sum(payment.refunds) : 0
  const amount =
    'faulty' in asked
      ? asked.faulty
      : 'over' in asked
        ? left + asked.over
        : Math.max(1, Math.floor((left * asked.percent) / 100))
  const available = { none: undefined, right: left, wrong: left + 1 }[belief]
  const json = { amount, refund_amount_available: available }
  const request = { method: 'POST', path: pathOf(payment), account, json } as const
  const refuse = (status: number, code: string, field?: string) => ({
    request,
    expected: refusal(status, code, field ? { field } : {}),
  })
  if ('faulty' in asked) return refuse(asked.status, asked.code, 'amount')
  if (Number(amount) > 10_000_000) return refuse(422, 'P0602', 'amount')
  const found = known(world, account, payment)
  if (!found) return refuse(404, 'P0600')
  if (refundSummary(found).status !== 'available') return refuse(400, 'P0603')
  if (belief === 'wrong') return refuse(412, 'P0604')
  if (Number(amount) > left) return refuse(400, 'P0603')
  const made = { name: `{refund-${newNumber(world)}}`, amount: Number(amount), created: world.now }
  found.refunds.push(made)
  tell(world, found, ['refunded'])
  return { request, expected: answer(202, shownRefund(world, found, made)) }
}

export function readRefunds(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'GET', path: pathOf(payment), account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0800') }
  const refunds = found.refunds.map(made => shownRefund(world, found, made))
  const links = { self: link(pathOf(found)), payment: link(`/v1/payments/${found.name}`) }
  const body = { payment_id: found.name, _links: links, _embedded: { refunds } }
  return { request, expected: answer(200, body) }
}

/** `made` may be a refund of another payment. */
export function readRefund(
  world: World,
  account: Account,
  payment: Payment | undefined,
  made: Refund | undefined,
): Step {
  const path = `${pathOf(payment)}/${made?.name ?? NO_ID}`
  const request = { method: 'GET', path, account } as const
  const found = known(world, account, payment)
  if (!found || !made || !found.refunds.includes(made))
    return { request, expected: refusal(404, 'P0700') }
  return { request, expected: answer(200, shownRefund(world, found, made)) }
}

export type RefundQuery = PageQuery & { from?: number | undefined; settled?: string | undefined }

export function searchRefunds(world: World, account: Account, query: RefundQuery): Step {
  const { from, settled } = query
  const found = world.payments
    .filter(payment => payment.account === account && !isGone(world, payment))
    .flatMap(payment => payment.refunds.map(made => ({ payment, made })))
    .filter(({ made }) => from === undefined || made.created >= from)
    .filter(() => !settled?.trim())
    .sort((a, b) => a.made.created - b.made.created || numberOf(a.made) - numberOf(b.made))
    .map(({ payment, made }) => shownRefund(world, payment, made))
  return searchPage({
    path: '/v1/refunds',
    codes: ['P1101', 'P1100'],
    account,
    query,
    filters: [
      ['from_date', from === undefined ? undefined : iso(from)],
      ['to_settled_date', settled],
    ],
    wrong: Boolean(settled?.trim()) && !/^\d{4}-\d\d-\d\d$/.test(settled ?? ''),
    found,
  })
}

/** Names are numbered in the order of creation. */
const numberOf = ({ name }: Refund): number => Number(/\d+/.exec(name))
