/** Differences in searches. */
import { difference } from './difference.ts'
import { inCode } from './source.ts'

/** States of payments for which nobody can search. */
export const refusedStates = difference<readonly string[]>({
  subject: 'Searches for capturable payments',
  specification: 'state=capturable is accepted, as documented',
  govukPay: 'Its source refuses state=capturable with 422 P0401, though its documentation lists it',
  source: inCode('publicapi', 'validation/PaymentSearchValidator.java', '32-33'),
  rule: {
    id: 'P12',
    level: 'note',
    advice: 'Read the payments that wait for a capture one by one.',
    among: { lacking: 'No search had state=capturable or card_brand.' },
    answer: (refused, { operation, query }) =>
      operation === 'searchPayments' && refused.includes(query.get('state') ?? ''),
  },
  decides: { specification: [], 'govuk-pay': ['capturable'] },
})

export const filtersByBrand = difference<boolean>({
  subject: 'Searches by card brand',
  specification: 'card_brand filters',
  govukPay: 'card_brand has no effect, probably by mistake',
  source: inCode('ledger', 'transaction/search/common/TransactionSearchParams.java', '131'),
  rule: {
    id: 'P12',
    level: 'note',
    advice: 'Compare card_details.card_brand of the results.',
    among: { lacking: 'No search had state=capturable or card_brand.' },
    answer: (filters, { operation, query }) =>
      operation === 'searchPayments' && Boolean(query.get('card_brand')) && filters,
  },
  decides: { specification: true, 'govuk-pay': false },
})

/** Whether a search finds a payment that was created at the very moment of from_date. */
export const findsFromDate = difference<boolean>({
  subject: '`from_date` in searches',
  specification: 'On or after',
  govukPay: 'In the source later than, in the documentation on or after',
  source: inCode('ledger', 'transaction/search/common/TransactionSearchParams.java', '288'),
  noRule: 'answers do not show it',
  decides: { specification: true, 'govuk-pay': false },
})

/** The most agreements on a page, and the default; undefined if the limits of display_size apply. */
export const mostAgreements = difference<number | undefined>({
  subject: 'The most agreements on a page',
  specification: '500',
  govukPay: '20, and the same without display_size. Its documentation says 500',
  source: inCode('ledger', 'agreement/resource/AgreementSearchParams.java', '194-200'),
  noRule: 'answers do not show it',
  decides: { specification: undefined, 'govuk-pay': 20 },
})
