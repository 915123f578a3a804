/** Payments as the API shows and moves them: SPEC *Payment* and *States and transitions*. */
import {
  type Account,
  answer,
  formLink,
  given,
  isGone,
  iso,
  link,
  NO_ID,
  refusal,
  type Step,
  type World,
} from './model.ts'
import { type Agreement, makeActive } from './model-agreements.ts'
import { type Refund, refundSummary } from './model-refunds.ts'
import { tell } from './model-webhooks.ts'

export type Status =
  | 'created'
  | 'started'
  | 'submitted'
  | 'success'
  | 'capturable'
  | 'failed'
  | 'error'
  | 'cancelled'

export type Address = Record<string, string>

export type Card = {
  first_digits_card_number?: string
  last_digits_card_number?: string
  cardholder_name?: string | undefined
  expiry_date?: string
  billing_address?: Address | undefined
  card_brand?: string | undefined
  card_type: 'credit' | null
}

export type Payment = {
  name: string
  token: string
  provider: string
  account: Account
  created: number
  mode: 'web' | 'moto_api' | 'agreement'
  amount: number
  reference: string
  description: string
  language: 'en' | 'cy'
  delayed: boolean
  moto: boolean
  return_url?: string | undefined
  email?: string | undefined
  metadata?: object | undefined
  /** What is left of the prefilled details, if anything is. */
  prefilled?: { cardholder_name?: string; billing_address?: Address } | undefined
  agreement_payment_type?: string | undefined
  /** The agreement that it uses or sets up. */
  agreement?: Agreement | undefined
  /** Oldest first. */
  events: { status: Status; at: number; code?: string | undefined }[]
  /** Success was chosen on the first page, and not confirmed yet. */
  chosen: boolean
  card?: Card
  refunds: Refund[]
}

export const statusOf = ({ events }: Payment): Status => events.at(-1)?.status ?? 'created'

export const isOpen = (payment: Payment): boolean =>
  ['created', 'started'].includes(statusOf(payment))

const texts: Record<string, string> = {
  P0010: 'The card was declined',
  P0030: 'The user cancelled the payment',
  P0040: 'The service cancelled the payment',
  P0050: 'The payment provider reported an error',
}

const shownState = ({ status, code }: Payment['events'][number]) => ({
  status,
  finished: ['success', 'failed', 'error', 'cancelled'].includes(status),
  code,
  message: code && texts[code],
})

/** The payment as GET answers it, and as webhooks are told of it. */
export function shown(payment: Payment): object {
  const links = { ...stateLinks(payment), ...pageLinks(payment) }
  return given({ ...fields(payment), _links: links })
}

/** The payment as a search shows it: without the links that hold a token. */
export const shownFound = (payment: Payment): object =>
  given({ ...fields(payment), _links: stateLinks(payment) })

function fields(payment: Payment) {
  const { name, mode, events, card, amount } = payment
  const last = events.at(-1) ?? { status: 'created', at: payment.created }
  const captured = events.find(event => event.status === 'success')?.at
  const details: Card | undefined =
    card ?? (payment.prefilled && { ...payment.prefilled, card_type: null })
  const isPaid = captured !== undefined
  const wasFaulty = last.code === 'P0010' || last.code === 'P0050'
  return {
    payment_id: name,
    amount,
    reference: payment.reference,
    description: payment.description,
    language: payment.language,
    email: payment.email,
    metadata: payment.metadata,
    agreement_payment_type: payment.agreement_payment_type,
    state: shownState(last),
    payment_provider: 'sandbox',
    provider_id: payment.provider,
    created_date: iso(payment.created),
    refund_summary: refundSummary(payment),
    settlement_summary: isPaid
      ? { capture_submit_time: iso(captured), captured_date: iso(captured).slice(0, 10) }
      : {},
    delayed_capture: payment.delayed,
    moto: payment.moto || mode === 'moto_api',
    authorisation_mode: mode,
    return_url: payment.return_url,
    card_details: details,
    card_brand: details?.card_brand,
    authorisation_summary: card && { three_d_secure: { required: false } },
    fee: isPaid || wasFaulty ? 0 : undefined,
    net_amount: isPaid ? amount : wasFaulty ? 0 : undefined,
  }
}

function stateLinks(payment: Payment) {
  const { name, mode } = payment
  const status = statusOf(payment)
  const path = `/v1/payments/${name}`
  const cancellable = mode !== 'agreement' && (isOpen(payment) || status === 'capturable')
  return {
    self: link(path),
    events: link(`${path}/events`),
    refunds: link(`${path}/refunds`),
    cancel: cancellable ? formLink(`${path}/cancel`) : undefined,
    capture: status === 'capturable' ? formLink(`${path}/capture`) : undefined,
  }
}

function pageLinks(payment: Payment) {
  const { token, mode } = payment
  if (!isOpen(payment)) return {}
  if (mode === 'moto_api') return { auth_url_post: formLink('/v1/auth', { one_time_token: token }) }
  return {
    next_url: link(`/secure/${token}`),
    next_url_post: formLink('/secure', { chargeTokenId: token }),
  }
}

/** Moves a payment through `statuses`, with all that belongs to the move. */
export function move(world: World, payment: Payment, statuses: Status[], code?: string): void {
  const from = statusOf(payment)
  const last = statuses.length - 1
  statuses.forEach((status, i) => {
    payment.events.push({ status, at: world.now, ...(i === last && code && { code }) })
  })
  payment.chosen = false
  const to = statusOf(payment)
  const authorised = from !== 'capturable' && (to === 'success' || to === 'capturable')
  if (authorised && payment.mode === 'web' && payment.agreement)
    makeActive(world, payment.agreement, payment)
  if (authorised) tell(world, payment, to === 'success' ? ['succeeded', 'captured'] : ['succeeded'])
  else if (to === 'success') tell(world, payment, ['captured'])
  else if (to === 'failed' || to === 'error') tell(world, payment, ['failed'])
  else if (to === 'cancelled') tell(world, payment, ['cancelled'])
}

/** What an authorisation leads to. */
export const authorised = ({ delayed }: Payment): Status => (delayed ? 'capturable' : 'success')

/** The payment, if this account has it and it is not gone. */
export const known = (
  world: World,
  account: Account,
  payment: Payment | undefined,
): Payment | undefined =>
  payment?.account === account && !isGone(world, payment) ? payment : undefined

const pathOf = (payment: Payment | undefined) => `/v1/payments/${payment?.name ?? NO_ID}`

export function read(
  world: World,
  account: Account,
  payment: Payment | undefined,
  method: 'GET' | 'HEAD' = 'GET',
): Step {
  const found = known(world, account, payment)
  const expected = found ? answer(200, shown(found)) : refusal(404, 'P0200')
  const { body, ...head } = expected
  return {
    request: { method, path: pathOf(payment), account },
    expected: method === 'GET' ? { ...head, body } : head,
  }
}

export function readEvents(world: World, account: Account, payment: Payment | undefined): Step {
  const path = `${pathOf(payment)}/events`
  const request = { method: 'GET', path, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0300') }
  const payment_id = found.name
  const events = found.events.map(event => ({
    payment_id,
    state: shownState(event),
    updated: iso(event.at),
    _links: { payment_url: link(pathOf(found)) },
  }))
  return { request, expected: answer(200, { payment_id, events, _links: { self: link(path) } }) }
}

export function cancel(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'POST', path: `${pathOf(payment)}/cancel`, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P0500') }
  if (!isOpen(found) && statusOf(found) !== 'capturable')
    return { request, expected: refusal(400, 'P0501') }
  move(world, found, ['cancelled'], 'P0040')
  return { request, expected: answer(204) }
}

export function capture(world: World, account: Account, payment: Payment | undefined): Step {
  const request = { method: 'POST', path: `${pathOf(payment)}/capture`, account } as const
  const found = known(world, account, payment)
  if (!found) return { request, expected: refusal(404, 'P1000') }
  if (statusOf(found) !== 'capturable') return { request, expected: refusal(409, 'P1003') }
  move(world, found, ['success'])
  return { request, expected: answer(204) }
}
