/**
 * The rows of the summary lists: the payment, the payer and the card. The values have the element ids of
 * GOV.UK Pay's pages, because test suites of calling services look for them.
 */

import { inPounds } from '../../core/money.ts'
import type { SummaryRow } from '../../platform/web/components.ts'
import { type Html, html } from '../../platform/web/html.ts'
import type { BillingAddress, CardDetails, Prefilled } from '../card.ts'
import type { Language, NewPayment } from '../payments/payment.ts'
import type { Messages } from './text.en.ts'

/** The fields of a payment that its pages show. Fields that the client did not send are absent. */
export type PaymentSummary = Pick<
  NewPayment,
  'description' | 'reference' | 'amount' | 'language' | 'email' | 'delayed_capture'
> &
  Prefilled & {
    /** Of the agreement that the payment sets up. */
    agreement?: string | undefined
  }

type Person = Pick<PaymentSummary, 'cardholder_name' | 'billing_address' | 'email'>

export function paymentRows(payment: PaymentSummary, { summary: text }: Messages): SummaryRow[] {
  return [
    { id: 'payment-description', key: text.description, value: payment.description },
    { id: 'payment-reference', key: text.reference, value: payment.reference },
    { id: 'amount', key: text.total, value: inPounds(payment.amount), emphasised: true },
    ...(payment.agreement === undefined
      ? []
      : [
          {
            id: 'agreement-description',
            key: text.agreement,
            value: html`${payment.agreement}<br>${text.cardKept}`,
          },
        ]),
  ]
}

/** The details of the payer that are known, so there may be no rows. */
export function personRows(person: Person, { person: text, language }: Messages): SummaryRow[] {
  return presentRows([
    ['cardholder-name', text.name, person.cardholder_name],
    ['address', text.address, addressLines(person.billing_address, language)],
    ['email', text.email, person.email],
  ])
}

export function cardRows(card: CardDetails, { confirm: text }: Messages): SummaryRow[] {
  const { card_brand: brand, last_digits_card_number: lastDigits } = card
  const kind = { credit: text.creditCard, debit: text.debitCard }
  return presentRows([
    ['card-type', text.cardType, brand && card.card_type ? kind[card.card_type](brand) : brand],
    ['card-number', text.cardNumber, lastDigits && text.endingIn(lastDigits)],
    ['expiry-date', text.expiryDate, card.expiry_date],
  ])
}

const countries: Partial<Record<Language, Intl.DisplayNames>> = {}

/** The name of the country. Its code stays in the markup as it was sent, for test suites to read. */
function countryName(code: string, language: Language): Html {
  const locale = language === 'en' ? 'en-GB' : language
  countries[language] ??= new Intl.DisplayNames(locale, { type: 'region' })
  return html`<data value="${code}">${countries[language].of(code.toUpperCase())}</data>`
}

/** The lines of an address in the order of an envelope. Each line has a text direction of its own. */
function addressLines(address: BillingAddress | undefined, language: Language): Html | undefined {
  if (!address) return
  const { line1, line2, city, postcode, country } = address
  const lines = [line1, line2, city, postcode, country && countryName(country, language)]
  const filled = lines.filter(line => line !== undefined && line !== '')
  if (filled.length === 0) return
  return html`${filled.map((line, i) => html`${i > 0 && html`<br>`}<bdi>${line}</bdi>`)}`
}

type Row = [id: string, key: string, value: string | Html | undefined]

function presentRows(rows: Row[]): SummaryRow[] {
  return rows.flatMap(([id, key, value]) => (value ? [{ id, key, value }] : []))
}
