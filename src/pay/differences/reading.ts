/** What differs in how a payment is shown. */
import { difference } from './difference.ts'
import { inCode } from './source.ts'

export const linksOfFoundPayments = difference<'absent' | 'null'>(
  {
    subject: 'The links cancel and capture of a search result, where they do not apply',
    specification: 'They are absent',
    govukPay: 'They are null, and capture always is',
    source: inCode('publicapi', 'model/search/card/PaymentForSearchResult.java', '45-50'),
  },
  { specification: 'absent', 'govuk-pay': 'null' },
)
