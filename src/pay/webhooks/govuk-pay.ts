/** Webhook messages as GOV.UK Pay sends them, where that differs: docs/spec-gaps.md. Pure. */

/** How the messages of a webhook look, if not as the specification says. */
export const shapes = ['govuk-pay'] as const
export type Shape = (typeof shapes)[number]

// biome-ignore lint/suspicious/noExplicitAny: the body of a message, which this service has printed.
type Printed = any

/** Fields of `resource`, in the order in which GOV.UK Pay prints them. It leaves out those that it does not know. */
const FIELDS = [
  'payment_id',
  'amount',
  'state',
  'return_url',
  'description',
  'reference',
  'email',
  'payment_provider',
  'created_date',
  'language',
  'delayed_capture',
  'moto',
  'refund_summary',
  'settlement_summary',
  'card_details',
  'corporate_card_surcharge',
  'total_amount',
  'metadata',
  'fee',
  'net_amount',
  'authorisation_summary',
] as const

/** Those of `card_details` and of its address, which are null if they are not known. */
const CARD_FIELDS = [
  'last_digits_card_number',
  'first_digits_card_number',
  'cardholder_name',
  'expiry_date',
  'billing_address',
  'card_brand',
  'card_type',
] as const
const ADDRESS_FIELDS = ['line1', 'line2', 'postcode', 'city', 'country'] as const

/** The states that its ledger names in another way. It knows both kinds of cancel by one name, and so by one code. */
const STATES: Record<string, { status: string; code?: string; message?: string }> = {
  P0010: { status: 'declined' },
  P0020: { status: 'timedout' },
  P0030: { status: 'cancelled' },
  P0040: { status: 'cancelled', code: 'P0030', message: 'Payment was cancelled by the user' },
}

const withNulls = (names: readonly string[], given: Printed) =>
  given && Object.fromEntries(names.map(name => [name, given[name] ?? null]))

/** The body of a message, of either shape, in the shape of GOV.UK Pay. */
export function asGovukPay(body: string): string {
  const { event_type, resource, ...head }: Printed = JSON.parse(body)
  const { can_retry, ...state } = resource.state
  const { card_details: card } = resource
  const changed: Printed = {
    ...resource,
    state: { ...state, ...STATES[state.code] },
    card_details:
      card &&
      withNulls(CARD_FIELDS, {
        ...card,
        billing_address: withNulls(ADDRESS_FIELDS, card.billing_address),
      }),
    authorisation_summary: resource.authorisation_summary ?? {
      three_d_secure: { required: false },
    },
  }
  const fields = FIELDS.filter(name => changed[name] !== undefined)
  return JSON.stringify({
    ...head,
    resource_type: 'PAYMENT',
    event_type: event_type === 'card_payment_cancelled' ? 'card_payment_failed' : event_type,
    resource: Object.fromEntries(fields.map(name => [name, changed[name]])),
  })
}
