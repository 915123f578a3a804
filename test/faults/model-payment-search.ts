/** GET /v1/payments. */
import { type Account, isGone, iso, NO_ID, type Step, type World } from './model.ts'
import type { Agreement } from './model-agreements.ts'
import { type Payment, shownFound, statusOf } from './model-payments.ts'
import { type PageQuery, searchPage } from './model-search.ts'

/** Undefined: not asked for. Texts stand in the address as they are. */
export type PaymentQuery = PageQuery & {
  state?: string | undefined
  reference?: string | undefined
  email?: string | undefined
  card_brand?: string | undefined
  cardholder_name?: string | undefined
  agreement?: Agreement | 'unknown' | undefined
  /** Milliseconds since 1970. */
  from?: number | undefined
  to?: number | undefined
  first_digits?: string | undefined
  last_digits?: string | undefined
}

const brandIds: Record<string, string> = {
  visa: 'Visa',
  'master-card': 'Mastercard',
  'american-express': 'American Express',
  discover: 'Discover',
  jcb: 'Jcb',
  'diners-club': 'Diners Club',
  unionpay: 'Union Pay',
}

const statuses = [
  'created',
  'started',
  'submitted',
  'success',
  'capturable',
  'failed',
  'error',
  'cancelled',
]

const isBlank = (text: string | undefined): boolean => !text?.trim()

const same = (a: string, b = ''): boolean => a.toLowerCase() === b.toLowerCase()
const holds = (whole: string | undefined, part = ''): boolean =>
  whole?.toLowerCase().includes(part.toLowerCase()) ?? false

function matches(payment: Payment, query: PaymentQuery): boolean {
  const { card, prefilled } = payment
  const { agreement, from, to } = query
  const asked = (text: string | undefined, test: () => boolean) => isBlank(text) || test()
  return (
    asked(query.state, () => statusOf(payment) === query.state) &&
    asked(query.reference, () => same(payment.reference, query.reference)) &&
    asked(query.email, () => holds(payment.email, query.email)) &&
    asked(
      query.card_brand,
      () => card?.card_brand !== undefined && brandIds[query.card_brand ?? ''] === card.card_brand,
    ) &&
    asked(query.cardholder_name, () =>
      holds(card?.cardholder_name ?? prefilled?.cardholder_name, query.cardholder_name),
    ) &&
    (agreement === undefined || payment.agreement === agreement) &&
    (from === undefined || payment.created >= from) &&
    (to === undefined || payment.created < to) &&
    asked(query.first_digits, () => card?.first_digits_card_number === query.first_digits) &&
    asked(query.last_digits, () => card?.last_digits_card_number === query.last_digits)
  )
}

export function searchPayments(world: World, account: Account, query: PaymentQuery): Step {
  const { agreement, from, to, state, first_digits, last_digits } = query
  const found = world.payments
    .filter(payment => payment.account === account && !isGone(world, payment))
    .filter(payment => matches(payment, query))
    .map(shownFound)
  return searchPage({
    path: '/v1/payments',
    codes: ['P0401', 'P0402'],
    account,
    query,
    filters: [
      ['state', state],
      ['reference', query.reference],
      ['email', query.email],
      ['card_brand', query.card_brand],
      ['cardholder_name', query.cardholder_name],
      ['agreement_id', agreement && (agreement === 'unknown' ? NO_ID : agreement.name)],
      ['from_date', from === undefined ? undefined : iso(from)],
      ['to_date', to === undefined ? undefined : iso(to)],
      ['first_digits_card_number', first_digits],
      ['last_digits_card_number', last_digits],
    ],
    wrong:
      (!isBlank(state) && !statuses.includes(state ?? '')) ||
      (!isBlank(first_digits) && !/^\d{6}$/.test(first_digits ?? '')) ||
      (!isBlank(last_digits) && !/^\d{4}$/.test(last_digits ?? '')),
    found,
  })
}
