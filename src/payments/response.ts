import type { Addresses } from '../http/addresses.ts'
import { addressOf, getLink, postLink } from '../http/addresses.ts'
import { timeOf } from '../ids.ts'
import { iso } from '../time.ts'
import { type CardDetails, prefilledCard } from './card.ts'
import {
  capturedAt,
  type FailureCode,
  isFinished,
  isOpen,
  type Payment,
  type PaymentEvent,
  refundSummary,
  stateOf,
  statusOf,
  tokenOf,
} from './payment.ts'
import type { PaymentBody, PaymentEventsBody } from './schema.ts'

const messages: Record<FailureCode, string> = {
  P0010: 'The card was declined',
  P0030: 'The user cancelled the payment',
  P0040: 'The service cancelled the payment',
  P0050: 'The payment provider reported an error',
}

type Links = PaymentBody['_links']

const presentState = ({ status, code }: PaymentEvent) => ({
  status,
  finished: isFinished(status),
  ...(code && { code, message: messages[code] }),
})

/** The payment as every response and webhook message shows it (SPEC *Payment*). */
export function present(payment: Payment, addresses: Addresses): PaymentBody {
  return presentWith(payment, {
    ...stateLinks(payment, addresses),
    ...pageLinks(payment, addresses),
  })
}

/** The same as an item of the payments search: without the links that carry a token. */
export function presentFound(payment: Payment, addresses: Addresses): PaymentBody {
  return presentWith(payment, stateLinks(payment, addresses))
}

function presentWith(payment: Payment, links: Links): PaymentBody {
  const { given } = payment
  const card = payment.card ?? (given.prefilled && prefilledCard(given.prefilled))
  return {
    payment_id: payment.payment_id,
    amount: given.amount,
    reference: given.reference,
    description: given.description,
    language: given.language,
    ...(given.email !== undefined && { email: given.email }),
    ...(given.metadata && { metadata: given.metadata }),
    ...(given.agreement_payment_type && { agreement_payment_type: given.agreement_payment_type }),
    state: presentState(stateOf(payment)),
    payment_provider: 'sandbox',
    provider_id: payment.provider_id,
    created_date: iso(timeOf(payment.payment_id)),
    refund_summary: refundSummary(payment),
    settlement_summary: settlementSummary(payment),
    delayed_capture: given.delayed_capture,
    moto: given.moto,
    authorisation_mode: given.authorisation_mode,
    ...(given.return_url !== undefined && { return_url: given.return_url }),
    ...(card && presentCard(card)),
    ...(payment.card && { authorisation_summary: { three_d_secure: { required: false } } }),
    ...fees(payment),
    _links: links,
  }
}

const presentCard = (card: CardDetails) => ({
  ...(card.card_brand && { card_brand: card.card_brand }),
  card_details: card,
})

function settlementSummary(payment: Payment): PaymentBody['settlement_summary'] {
  const captured = capturedAt(payment)
  if (captured === undefined) return {}
  const capture_submit_time = iso(captured)
  return { capture_submit_time, captured_date: capture_submit_time.slice(0, 10) }
}

/** SPEC *fee*: only after capture, or after a failure that followed a submitted card. */
function fees(payment: Payment): { fee?: number; net_amount?: number } {
  const { status, code } = stateOf(payment)
  if (status === 'success') return { fee: 0, net_amount: payment.given.amount }
  return code === 'P0010' || code === 'P0050' ? { fee: 0, net_amount: 0 } : {}
}

/** Where GET answers it: what `self` links to. */
export const paymentAddress = (payment_id: string, addresses: Addresses): string =>
  addressOf(addresses.api, '/v1/payments/', payment_id)

/** SPEC *Links*: a link that does not apply is absent. */
function stateLinks(payment: Payment, addresses: Addresses): Links {
  const status = statusOf(payment)
  const self = paymentAddress(payment.payment_id, addresses)
  const cancellable =
    payment.given.authorisation_mode !== 'agreement' && (isOpen(status) || status === 'capturable')
  return {
    self: getLink(self),
    events: getLink(addressOf(self, '/events')),
    refunds: getLink(addressOf(self, '/refunds')),
    ...(cancellable && { cancel: postLink(addressOf(self, '/cancel')) }),
    ...(status === 'capturable' && { capture: postLink(addressOf(self, '/capture')) }),
  }
}

function pageLinks(payment: Payment, { api, pages }: Addresses): Partial<Links> {
  const mode = payment.given.authorisation_mode
  const token = tokenOf(payment)
  if (!isOpen(statusOf(payment)) || mode === 'agreement') return {}
  if (mode === 'moto_api')
    return { auth_url_post: postLink(addressOf(api, '/v1/auth'), { one_time_token: token }) }
  return {
    next_url: getLink(addressOf(pages, '/secure/', token)),
    next_url_post: postLink(addressOf(pages, '/secure'), { chargeTokenId: token }),
  }
}

/** The history of a payment, oldest first. */
export function presentEvents(payment: Payment, addresses: Addresses): PaymentEventsBody {
  const { payment_id } = payment
  const self = paymentAddress(payment_id, addresses)
  return {
    payment_id,
    events: payment.events.map(event => ({
      payment_id,
      state: presentState(event),
      updated: iso(event.at),
      _links: { payment_url: getLink(self) },
    })),
    _links: { self: getLink(addressOf(self, '/events')) },
  }
}
