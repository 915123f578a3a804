/**
 * What the hosted pages say about a payment, its payer and its card: the rows of their summary lists.
 * Values have the ids that they have on GOV.UK Pay's pages, where tests of calling services look for them.
 */
import type { BillingAddress, CardDetails, Prefilled } from '../payments/card.ts'
import type { Language, NewPayment } from '../payments/payment.ts'
import type { SummaryRow } from '../web/components.ts'
import { type Html, html } from '../web/html.ts'
import { onFirstUse } from '../web/on-first-use.ts'
import { messages } from './text.ts'

/** The payment as its pages show it; what the client did not send is absent. */
export type PaymentSummary = Pick<
  NewPayment,
  'description' | 'reference' | 'amount' | 'language' | 'email' | 'delayed_capture'
> &
  Prefilled

/** Languages take 20 ms and 10 MB to load, and not every service shows pages. */
const pounds = onFirstUse(
  () => new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' }),
)

const countries = {
  en: onFirstUse(() => new Intl.DisplayNames('en-GB', { type: 'region' })),
  cy: onFirstUse(() => new Intl.DisplayNames('cy', { type: 'region' })),
}

export function paymentRows(payment: PaymentSummary): SummaryRow[] {
  const text = messages[payment.language].summary
  return [
    { id: 'payment-description', key: text.description, value: payment.description },
    { id: 'payment-reference', key: text.reference, value: payment.reference },
    {
      id: 'amount',
      key: text.total,
      value: pounds().format(payment.amount / 100),
      emphasised: true,
    },
  ]
}

/** Who pays, as far as it is known: no rows when nothing is. */
export function personRows(
  person: Pick<PaymentSummary, 'cardholder_name' | 'billing_address' | 'email'>,
  language: Language,
): SummaryRow[] {
  const text = messages[language].person
  return presentRows([
    ['cardholder-name', text.name, person.cardholder_name],
    ['address', text.address, addressLines(person.billing_address, language)],
    ['email', text.email, person.email],
  ])
}

export function cardRows(card: CardDetails, language: Language): SummaryRow[] {
  const text = messages[language].confirm
  const { card_brand: brand, last_digits_card_number: lastDigits } = card
  const kind = { credit: text.creditCard, debit: text.debitCard }
  return presentRows([
    ['card-type', text.cardType, brand && card.card_type ? kind[card.card_type](brand) : brand],
    ['card-number', text.cardNumber, lastDigits && text.endingIn(lastDigits)],
    ['expiry-date', text.expiryDate, card.expiry_date],
  ])
}

/** An address in the order of an envelope, with the country's name in the language of the page; each line runs in its own direction. */
function addressLines(address: BillingAddress | undefined, language: Language): Html | undefined {
  if (!address) return
  const { line1, line2, city, postcode, country } = address
  const lines = [line1, line2, city, postcode, country && countryName(country, language)]
  const given = lines.filter(line => line !== undefined && line !== '')
  if (given.length === 0) return
  return html`${given.map((line, i) => html`${i > 0 && html`<br>`}<bdi>${line}</bdi>`)}`
}

/** The name, with the code as it was sent left for a test of the calling service to read. */
function countryName(code: string, language: Language): Html {
  return html`<data value="${code}">${countries[language]().of(code.toUpperCase())}</data>`
}

type Row = [id: string, key: string, value: string | Html | undefined]

function presentRows(rows: Row[]): SummaryRow[] {
  return rows.flatMap(([id, key, value]) => (value ? [{ id, key, value }] : []))
}
