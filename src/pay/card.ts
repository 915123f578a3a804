/** The details of a card that Farthing keeps (Specification, *Payment*): never the full number, never the cvc. */

export const ADDRESS_LINES = ['line1', 'line2', 'city', 'postcode', 'country'] as const

/** The parts of a submitted address where the user fills in nothing: the list of countries begins with GB. */
const BLANK_ADDRESS = { line1: '', line2: '', postcode: '', city: '', country: 'GB' }

export type BillingAddress = Partial<Record<(typeof ADDRESS_LINES)[number], string>>

export type CardDetails = {
  first_digits_card_number?: string
  last_digits_card_number?: string
  cardholder_name?: string
  /** MM/YY */
  expiry_date?: string
  billing_address?: BillingAddress
  card_brand?: string
  card_type: 'debit' | 'credit' | null
}

/** The card number that is declined (Specification, *POST /v1/auth*). */
export const DECLINED_CARD = '4000000000000002'

/** The hosted pages have no card entry. They submit this card instead. */
export const MOCK_CARD = '4242424242424242'
const MOCK_NAME = 'Demo Cardholder'
const MOCK_ADDRESS = { line1: '1 Sample Street', postcode: 'ZZ1 1ZZ', city: 'Sampleton' }

/** The test cards that are debit cards, by the documentation of GOV.UK Pay. */
const DEBIT_CARDS = [
  '4000056655665556',
  '4988080000000000',
  '4000160000000004',
  '4131840000000003',
  '5105105105105100',
  '5200828282828210',
]

/** Each brand with its display name and its id in the card_brand search filter. */
const brands = [
  { brand: 'Visa', id: 'visa', digits: /^4/ },
  { brand: 'Mastercard', id: 'master-card', digits: /^(5[1-5]|2[2-7])/ },
  { brand: 'American Express', id: 'american-express', digits: /^3[47]/ },
  { brand: 'Discover', id: 'discover', digits: /^6011/ },
  { brand: 'Jcb', id: 'jcb', digits: /^35/ },
  { brand: 'Diners Club', id: 'diners-club', digits: /^3[068]/ },
  { brand: 'Union Pay', id: 'unionpay', digits: /^62/ },
]

export const brandIds: readonly string[] = brands.map(({ id }) => id)

/** The id of a brand in the card_brand search filter; undefined for an unknown name. */
export const brandId = (brand: string | undefined): string | undefined =>
  brands.find(row => row.brand === brand)?.id

/** undefined for a number of an unknown brand. */
export const brandOf = (number: string): string | undefined =>
  brands.find(row => row.digits.test(number))?.brand

/** The details of a submitted card. `number` has 12 to 19 digits. */
export function submittedCard(
  number: string,
  cardholder_name: string,
  expiry_date: string,
): CardDetails {
  const card_brand = brandOf(number)
  return {
    first_digits_card_number: number.slice(0, 6),
    last_digits_card_number: number.slice(-4),
    cardholder_name,
    expiry_date,
    ...(card_brand && { card_brand }),
    card_type: DEBIT_CARDS.includes(number) ? 'debit' : 'credit',
  }
}

/** The cardholder details that a client may send when it creates a payment. */
export type Prefilled = { cardholder_name?: string; billing_address?: BillingAddress }

/** Codes to which `Intl.DisplayNames` gives a name, but which are not countries, or not any more. */
const NO_COUNTRIES =
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB YD YU ZR ZZ'
let regions: Intl.DisplayNames | undefined

/** A prefilled address as the form of the pages has it: a missing or unknown country becomes the United Kingdom. */
export function withCountry({ country = '', ...address }: BillingAddress): BillingAddress {
  regions ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const code = country.toUpperCase()
  const isCountry = code && !NO_COUNTRIES.includes(code) && regions.of(code)
  return { ...address, country: isCountry ? country : 'GB' }
}

/** The card that the hosted pages submit. `created` is the creation of the payment, in milliseconds. */
export function mockCard(prefilled: Prefilled | undefined, created: number): CardDetails {
  const year = String(new Date(created).getUTCFullYear() + 3).slice(-2)
  const name = prefilled?.cardholder_name?.trim() ? prefilled.cardholder_name : MOCK_NAME
  return {
    ...submittedCard(MOCK_CARD, name, `12/${year}`),
    billing_address: {
      ...BLANK_ADDRESS,
      ...withCountry(prefilled?.billing_address ?? MOCK_ADDRESS),
    },
  }
}
