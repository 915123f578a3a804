/** Differences on the hosted pages. */
import { difference } from './difference.ts'
import { inCode } from './source.ts'

export const endedPage = difference<'redirect' | 'page'>({
  subject: 'The pages of a payment that has ended or is capturable',
  specification: 'They redirect to return_url with 303',
  govukPay: 'They say how the payment ended, with 200 and a link back to the service',
  source: inCode('frontend', 'utils/response-router.js', '130-239'),
  noRule: 'no request opens them',
  decides: { specification: 'redirect', 'govuk-pay': 'page' },
})
