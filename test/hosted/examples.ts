import type { CardDetails } from '../../src/pay/card.ts'
import type { PaymentSummary } from '../../src/pay/hosted/pages.ts'
import {
  confirmPage,
  detailsPage,
  endPage,
  errorPage,
  type Site,
} from '../../src/pay/hosted/pages.ts'
import { person as payer } from '../support/page-states.ts'

export const site: Site = { basePath: '/farthing' }
export const form = { action: '/farthing/secure/abc', hidden: { step: 'details' } }
export const returnUrl = 'https://markets.example.org/paid?pitch=22&week=38'

export const payment: PaymentSummary = {
  description: 'Market pitch, week 38',
  reference: 'PITCH-2207',
  amount: 123450,
  language: 'en',
  delayed_capture: false,
}

export const person = { email: payer.email, ...payer.prefilled_cardholder_details }

export const card: CardDetails = {
  card_brand: 'Visa',
  card_type: 'credit',
  last_digits_card_number: '4242',
  expiry_date: '12/29',
  ...payer.prefilled_cardholder_details,
}

/** Every page in both languages, with and without details of the payer and an error. */
export const examples = [
  ...(['en', 'cy'] as const).flatMap(language => {
    const some = { ...payment, language }
    const full = { ...some, ...person }
    const named = (name: string, source: string) => ({
      name: `${name} (${language})`,
      language,
      source,
    })
    return [
      named('details', detailsPage(site, some, form, { error: false })),
      named('details, prefilled', detailsPage(site, full, form, { error: false })),
      named('details, nothing chosen', detailsPage(site, full, form, { error: true })),
      named('confirm', confirmPage(site, { ...full, card }, form)),
      named('cancelled', endPage(site, 'cancel', { language, returnUrl })),
      named('declined', endPage(site, 'declined', { language, returnUrl })),
      named('technical problems', endPage(site, 'error', { language, returnUrl })),
      named('refused', errorPage(site, 403, { language, returnUrl })),
    ]
  }),
  ...[400, 403, 404, 405, 413, 415, 500].map(status => ({
    name: `fault ${status}`,
    language: 'en' as const,
    source: errorPage(site, status),
  })),
]
