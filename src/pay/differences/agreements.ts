/** Differences in agreements. */
import { difference } from './difference.ts'
import { inCode } from './source.ts'

export const setUpAgain = difference<'refused' | 'possible'>({
  subject: 'A payment that sets up a cancelled agreement',
  specification: 'It is refused with 400 P0103, and an agreement that is cancelled stays so',
  govukPay: 'It makes the agreement active again, with the new card and without cancelled_date',
  source: inCode(
    'connector',
    'charge/service/LinkPaymentInstrumentToAgreementService.java',
    '59-66',
  ),
  noRule: 'a refusal shows that the integration knows',
  decides: { specification: 'refused', 'govuk-pay': 'possible' },
})

export const cancellableAgreements = difference<readonly string[]>({
  subject: 'The cancel of an agreement that is created',
  specification: 'It is cancelled',
  govukPay: 'It is refused with 400 P2501, as that of any agreement that is not active',
  source: inCode('connector', 'agreement/service/AgreementService.java', '126-143'),
  rule: {
    id: 'P8',
    level: 'warn',
    advice: 'Do not cancel an agreement that was never active: leave it as it is.',
    among: { operation: 'cancelAgreement', lacking: 'No agreement was cancelled.' },
    whenever: true,
    answer: (statuses, { agreement }) => agreement !== undefined && statuses.includes(agreement),
  },
  decides: { specification: ['created', 'active'], 'govuk-pay': ['active'] },
})
