/** Parts of the expected body of a payment. Tests combine them to a whole one. */
import assert from 'node:assert/strict'
import { type Body, type Client, webPayment } from './client.ts'
import { read } from './journeys.ts'

const FORM = 'application/x-www-form-urlencoded'
const { return_url, ...fields } = webPayment
export const TOKEN = /^[0-9a-v]{52}$/

/** The fields that a submitted Visa card adds to a payment, except card_details. */
export const CARD = {
  authorisation_summary: { three_d_secure: { required: false } },
  card_brand: 'Visa',
}
export const MOCK_CARD = {
  first_digits_card_number: '424242',
  last_digits_card_number: '4242',
  cardholder_name: 'Demo Cardholder',
  expiry_date: '12/29',
  billing_address: {
    line1: '1 Sample Street',
    line2: '',
    postcode: 'ZZ1 1ZZ',
    city: 'Sampleton',
    country: 'GB',
  },
  card_brand: 'Visa',
  card_type: 'credit',
}

export const refundSummary = (status: string, amount: number, refunded = 0) => ({
  status,
  amount_available: amount - refunded,
  amount_submitted: refunded,
})

/** The token in the links of a payment, for the hosted pages or for POST /v1/auth. */
export const tokenOf = (payment: Body): string =>
  payment._links.next_url?.href.split('/').pop() ??
  payment._links.auth_url_post?.params.one_time_token

function links(base: string, created: Body, names: readonly string[]): Body {
  const self = `${base}/v1/payments/${created.payment_id}`
  const token = tokenOf(created)
  const get = (href: string) => ({ href, method: 'GET' })
  const post = (href: string, params = {}) => ({ href, method: 'POST', type: FORM, params })
  const all: Record<string, Body> = {
    self: get(self),
    events: get(`${self}/events`),
    refunds: get(`${self}/refunds`),
    next_url: get(`${base}/secure/${token}`),
    next_url_post: post(`${base}/secure`, { chargeTokenId: token }),
    auth_url_post: post(`${base}/v1/auth`, { one_time_token: token }),
    cancel: post(`${self}/cancel`),
    capture: post(`${self}/capture`),
  }
  return Object.fromEntries(['self', 'events', 'refunds', ...names].map(name => [name, all[name]]))
}

/** The body of a payment made from `webPayment`, with these fields, and these links beside the common ones. */
export const bodyOf = (
  base: string,
  created: Body,
  linked: readonly string[],
  fields: object,
): Body => ({ ...commonFields(created), ...fields, _links: links(base, created, linked) })

/** Compares a whole payment body, as returned and as read again. */
export async function assertShows(api: Client, shown: Body, expected: Body): Promise<void> {
  assert.deepEqual(shown, expected)
  assert.deepEqual(await read(api, shown), expected)
}

/** The fields of a payment made from `webPayment` that are the same in every mode and status. */
function commonFields({ payment_id, provider_id, created_date }: Body) {
  assert.match(payment_id, /^[0-9a-v]{26}$/)
  assert.match(provider_id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  return {
    payment_id,
    ...fields,
    language: 'en',
    payment_provider: 'sandbox',
    provider_id,
    created_date,
    delayed_capture: false,
    moto: false,
    settlement_summary: {},
  }
}

export const inWebMode = { authorisation_mode: 'web', return_url }

export const inMotoMode = { authorisation_mode: 'moto_api', moto: true }

/** The fields of a payment that was captured at this time, in milliseconds. */
export function captured(at: number, amount = 4650) {
  const capture_submit_time = new Date(at).toISOString()
  return {
    state: { status: 'success', finished: true },
    refund_summary: refundSummary('available', amount),
    settlement_summary: { capture_submit_time, captured_date: capture_submit_time.slice(0, 10) },
    fee: 0,
    net_amount: amount,
  }
}

export const OPEN = {
  state: { status: 'created', finished: false },
  refund_summary: refundSummary('pending', 4650),
}
export const CAPTURABLE = {
  ...CARD,
  state: { status: 'capturable', finished: false },
  refund_summary: refundSummary('unavailable', 4650),
}
export const CANCELLED = {
  state: {
    status: 'cancelled',
    finished: true,
    code: 'P0040',
    message: 'Payment was cancelled by the service',
  },
  refund_summary: refundSummary('unavailable', 4650),
}
