/** The payment in webhook messages as GOV.UK Pay prints it. Pure. */
import { cardFields, withNulls } from './values.ts'

// biome-ignore lint/suspicious/noExplicitAny: a payment that this service has printed, under either behaviour.
type Resource = any

/** Fields of a payment that the ledger of GOV.UK Pay knows, except the fields that this file adds. */
const FIELDS = [
  'payment_id',
  'amount',
  'return_url',
  'description',
  'reference',
  'email',
  'payment_provider',
  'created_date',
  'language',
  'delayed_capture',
  'moto',
  'metadata',
] as const

/** Fields of an address, which are null if they are not known. */
const ADDRESS_FIELDS = ['line1', 'line2', 'postcode', 'city', 'country'] as const

/** The states that the ledger names differently. Both kinds of cancel have one name there, and so one code. */
const STATES: Record<string, { status: string; code?: string; message?: string }> = {
  P0010: { status: 'declined' },
  P0020: { status: 'timedout' },
  P0030: { status: 'cancelled' },
  P0040: { status: 'cancelled', code: 'P0030', message: 'Payment was cancelled by the user' },
}

/** Orders fields as the ledger's database does: shorter names first, names of equal length by their bytes. */
function stored(value: Resource): Resource {
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value)
    .filter(name => value[name] !== undefined)
    .map(name => Buffer.from(name))
    .sort((one, other) => one.length - other.length || Buffer.compare(one, other))
    .map(String)
  return Object.fromEntries(names.map(name => [name, stored(value[name])]))
}

/** `payment` is as GET returns it right after the change, under either behaviour. */
export function asLedgerPrints(payment: Resource, event_type: string): object {
  const { can_retry, ...state } = payment.state
  const { card_details: card } = payment
  const hasCard = (card?.last_digits_card_number ?? null) !== null
  const isBeforeCapture = event_type === 'card_payment_succeeded'
  const isCharge = payment.authorisation_mode === 'agreement' && !payment.delayed_capture
  return stored({
    ...Object.fromEntries(FIELDS.map(name => [name, payment[name]])),
    state: { ...state, ...STATES[state.code] },
    refund_summary: {
      ...payment.refund_summary,
      ...(isBeforeCapture && { status: isCharge ? 'unavailable' : 'pending' }),
    },
    settlement_summary: isBeforeCapture ? {} : payment.settlement_summary,
    ...(card && {
      card_details: withNulls(cardFields, {
        ...card,
        card_brand: card.card_brand ?? '',
        billing_address: card.billing_address && withNulls(ADDRESS_FIELDS, card.billing_address),
      }),
    }),
    ...(hasCard &&
      state.code !== 'P0050' && { authorisation_summary: { three_d_secure: { required: false } } }),
  })
}
