/** SPEC *card_details fields*: what is known of a card. No full number and no cvc is ever kept. */

export type BillingAddress = {
  line1?: string
  line2?: string
  city?: string
  postcode?: string
  country?: string
}

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

/** The card number that is declined (SPEC *POST /v1/auth*). */
export const DECLINED_CARD = '4000000000000002'

/** The card that stands in for card entry on the hosted pages. */
export const MOCK_CARD = '4242424242424242'
const MOCK_NAME = 'Demo Cardholder'
const MOCK_ADDRESS: BillingAddress = {
  line1: '1 Sample Street',
  postcode: 'ZZ1 1ZZ',
  city: 'Sampleton',
  country: 'GB',
}

/** Brand names as they are shown, and their ids in the card_brand search filter. */
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

/** The id of a brand in the card_brand search filter. */
export const brandId = (brand: string): string | undefined =>
  brands.find(row => row.brand === brand)?.id

/** What is kept of a card whose number, of 12 to 19 digits, was posted to /v1/auth. */
export function submittedCard(
  number: string,
  cardholder_name: string,
  expiry_date: string,
): CardDetails {
  const brand = brands.find(row => row.digits.test(number))?.brand
  return {
    first_digits_card_number: number.slice(0, 6),
    last_digits_card_number: number.slice(-4),
    cardholder_name,
    expiry_date,
    ...(brand && { card_brand: brand }),
    card_type: 'credit',
  }
}

/** What a client may know of the card's holder before the card is submitted. */
export type Prefilled = { cardholder_name?: string; billing_address?: BillingAddress }

/** The card that stands in for card entry on the hosted pages; `created` is the payment's, in ms. */
export function mockCard(prefilled: Prefilled | undefined, created: number): CardDetails {
  const year = String(new Date(created).getUTCFullYear() + 3).slice(-2)
  return {
    ...submittedCard(MOCK_CARD, prefilled?.cardholder_name ?? MOCK_NAME, `12/${year}`),
    billing_address: prefilled?.billing_address ?? MOCK_ADDRESS,
  }
}

/** What is known of the card while only the client's prefilled details are. */
export const prefilledCard = (prefilled: Prefilled): CardDetails => ({
  ...prefilled,
  card_type: null,
})
