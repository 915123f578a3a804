import type { FromSchema } from 'json-schema-to-ts'
import { flat } from '../../core/flat.ts'
import { timeOf } from '../../core/ids.ts'
import { mapValues } from '../../core/map-values.ts'
import { iso } from '../../core/time.ts'
import { type Addresses, getLink, postLink } from '../../platform/http/addresses.ts'
import { id, link, object, postLinkSchema, type Titled } from '../../platform/http/schema.ts'
import type { Decision } from '../differences/difference.ts'
import {
  actionLinks,
  agreementIdOfPayments,
  cancelLink,
  cardOfPayments,
  shownFields,
} from '../differences/reading.ts'
import { allows } from './advance.ts'
import {
  beforeCharge,
  behaviourOf,
  capturedAt,
  type FailureCode,
  isFinished,
  isPayable,
  type Payment,
  type PaymentEvent,
  stateOf,
  statusOf,
  tokenOf,
} from './payment.ts'
import { refundSummary } from './refund.ts'
import { alwaysPresent, fieldsOfGovukPay, sometimesPresent } from './response-fields.ts'

const alwaysLinked = { self: link, events: link, refunds: link } as const

const linkedByState = {
  cancel: { ...postLinkSchema, description: 'Present while the payment can be cancelled' },
  capture: { ...postLinkSchema, description: 'Present while the payment is capturable' },
} as const

const linkedByToken = {
  next_url: {
    ...link,
    description:
      'The hosted page where the user pays. Web mode, until the payment is finished or capturable',
  },
  next_url_post: {
    ...postLinkSchema,
    description: 'The same page, with the token in a form instead of the URL',
  },
  auth_url_post: {
    ...postLinkSchema,
    description: 'The address to post the card to, and the one_time_token. moto_api mode',
  },
} as const

const linksOfPayment = <const Links extends Record<string, object>>(links: Links) => ({
  ...object('PaymentLinks', alwaysLinked, links),
  description: 'A link that does not apply is absent',
})

/** Specification, *Payment*: a payment in responses and webhook messages. */
export const payment = object(
  'Payment',
  { ...alwaysPresent, _links: linksOfPayment({ ...linkedByState, ...linkedByToken }) },
  sometimesPresent,
)

const { href, method, type, params } = postLinkSchema.properties
const anyPostLink = object(
  'PostLink',
  { href, method },
  { type: { type: 'string', enum: [type.const, actionLinks['govuk-pay'].authType] }, params },
)
const { next_url, ...postLinks } = { ...linkedByState, ...linkedByToken }
const linksOfGovukPay = mapValues(postLinks, ({ description }) => ({ ...anyPostLink, description }))
const linkOrNull = { anyOf: [anyPostLink, { type: 'null' }] }
const { always, sometimes } = fieldsOfGovukPay

/** The payment under each behaviour. */
export const paymentIn: Decision<Titled> = {
  specification: payment,
  'govuk-pay': object(
    'Payment',
    { ...always, _links: linksOfPayment({ next_url, ...linksOfGovukPay }) },
    { ...sometimes, agreement_id: { ...id, description: 'The agreement that it uses or sets up' } },
  ),
}

/** The same for search results: without the links that carry a token. */
export const foundPaymentIn: Decision<Titled> = {
  specification: object(
    'FoundPayment',
    {
      ...alwaysPresent,
      _links: {
        ...object('FoundPaymentLinks', alwaysLinked, linkedByState),
        description: 'A link that does not apply is absent, and so is every link with a token',
      },
    },
    sometimesPresent,
  ),
  'govuk-pay': object(
    'FoundPayment',
    {
      ...always,
      _links: object('FoundPaymentLinks', {
        ...alwaysLinked,
        cancel: linkOrNull,
        capture: linkOrNull,
      }),
    },
    sometimes,
  ),
}

/** A payment under either behaviour. `paymentIn` has the schemas. */
type PaymentBody = Omit<FromSchema<typeof payment>, 'provider_id' | 'card_details' | '_links'> & {
  provider_id?: string
  agreement_id?: string
  card_details?: object
  _links: Links
}
type ShownPayment = ReturnType<typeof presentWith>
type AnyLink = { href: string; method: string; type?: string; params?: Record<string, string> }
type Links = Readonly<Record<string, AnyLink | null>>

const messages: Record<FailureCode, string> = {
  P0010: 'Payment method rejected',
  P0020: 'Payment expired',
  P0030: 'Payment was cancelled by the user',
  P0040: 'Payment was cancelled by the service',
  P0050: 'Payment provider returned an error',
}

export const presentState = ({ status, code, can_retry }: PaymentEvent) => ({
  status,
  finished: isFinished(status),
  ...(code && { code, message: messages[code] }),
  ...(can_retry !== undefined && { can_retry }),
})

/** The payment as responses and webhook messages show it. */
export function presentPayment(payment: Payment, addresses: Addresses): ShownPayment {
  const { given } = payment
  const agreement_id = given.agreement_id ?? given.set_up_agreement
  const isShown = agreementIdOfPayments[behaviourOf(payment)] === 'shown'
  const links = { ...stateLinks(payment, addresses), ...pageLinks(payment, addresses) }
  return presentWith(payment, links, isShown ? agreement_id : undefined)
}

/** The payment as search results show it: without the links that carry a token. */
export function presentFound(found: Payment, addresses: Addresses): ShownPayment {
  const payment = beforeCharge(found)
  const links = stateLinks(payment, addresses)
  if (cancelLink[behaviourOf(payment)].inSearches === 'absent') return presentWith(payment, links)
  return presentWith(payment, { ...links, cancel: links.cancel ?? null, capture: null })
}

/** The type of the result lists the fields, and test/testing/public-types.ts uses it. */
export function presentWith(payment: Payment, links: Links, agreement_id?: string) {
  const { given } = payment
  const behaviour = behaviourOf(payment)
  const card_details = cardOfPayments[behaviour]({ card: payment.card, prefilled: given.prefilled })
  const shown = shownFields[behaviour]
  const hasProviderId = shown.providerId === 'always' || payment.card !== undefined
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
    ...(hasProviderId && { provider_id: payment.provider_id }),
    created_date: iso(timeOf(payment.payment_id)),
    refund_summary: refundSummary(payment),
    settlement_summary: settlementSummary(payment),
    delayed_capture: given.delayed_capture,
    moto: given.moto,
    authorisation_mode: given.authorisation_mode,
    ...(given.return_url !== undefined && { return_url: given.return_url }),
    ...(payment.card?.card_brand && { card_brand: payment.card.card_brand }),
    ...(card_details && { card_details }),
    ...(payment.card &&
      shown.fees && {
        authorisation_summary: { three_d_secure: { required: false } },
      }),
    ...(shown.fees && fees(payment)),
    _links: links,
    ...(agreement_id !== undefined && { agreement_id }),
  } satisfies PaymentBody
}

function settlementSummary(payment: Payment): PaymentBody['settlement_summary'] {
  const captured = capturedAt(payment)
  if (captured === undefined) return {}
  const capture_submit_time = iso(captured)
  return { capture_submit_time, captured_date: capture_submit_time.slice(0, 10) }
}

/** Specification, *Payment*: fee appears only after capture, or after a failure that followed a submitted card. */
function fees(payment: Payment): { fee?: number; net_amount?: number } {
  const { status, code } = stateOf(payment)
  if (status === 'success') return { fee: 0, net_amount: payment.given.amount }
  return code === 'P0010' || code === 'P0050' ? { fee: 0, net_amount: 0 } : {}
}

/** The `self` link of the payment. */
export const paymentAddress = (payment_id: string, addresses: Addresses): string =>
  flat(addresses.api, '/v1/payments/', payment_id)

function stateLinks(payment: Payment, addresses: Addresses): Links {
  const status = statusOf(payment)
  const self = paymentAddress(payment.payment_id, addresses)
  const behaviour = behaviourOf(payment)
  const { post } = actionLinks[behaviour]
  const isCharge = payment.given.authorisation_mode === 'agreement'
  const cancellable = (!isCharge || cancelLink[behaviour].ofCharges) && allows(payment, 'cancel')
  return {
    self: getLink(self),
    events: getLink(flat(self, '/events')),
    refunds: getLink(flat(self, '/refunds')),
    ...(cancellable && { cancel: post(flat(self, '/cancel')) }),
    ...(status === 'capturable' && { capture: post(flat(self, '/capture')) }),
  }
}

function pageLinks(payment: Payment, { api, pages }: Addresses): Links {
  const mode = payment.given.authorisation_mode
  const token = tokenOf(payment)
  const isOpen = isPayable(statusOf(payment)) || allows(payment, 'confirm')
  if (!isOpen || mode === 'agreement') return {}
  if (mode === 'moto_api')
    return {
      auth_url_post: {
        ...postLink(flat(api, '/v1/auth'), { one_time_token: token }),
        type: actionLinks[behaviourOf(payment)].authType,
      },
    }
  return {
    next_url: getLink(flat(pages, '/secure/', token)),
    next_url_post: postLink(flat(pages, '/secure'), { chargeTokenId: token }),
  }
}
