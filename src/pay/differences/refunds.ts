/** Differences in refunds. */
import { difference } from './difference.ts'
import { inCode } from './source.ts'

/** Milliseconds for which a refund is submitted before it succeeds. */
export const refundSubmittedFor = difference<number>({
  subject: 'The status of a refund',
  specification: 'It is submitted for 5 seconds, then success',
  govukPay: 'With its sandbox it is success at once, also in the 202',
  source: inCode('connector', 'refund/service/RefundService.java', '101'),
  noRule: 'answers do not show it',
  decides: { specification: 5_000, 'govuk-pay': 0 },
})

export const paymentIdOfRefunds = difference<'always' | 'in searches'>({
  subject: 'payment_id of a refund',
  specification: 'It is in every answer but the 202',
  govukPay: 'It is only in results of GET /v1/refunds',
  source: inCode('publicapi', 'model/RefundResponse.java', '39-73'),
  decides: { specification: 'always', 'govuk-pay': 'in searches' },
})
