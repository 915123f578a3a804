import type { Case } from '../../contract/differences.test.ts'
import { activeAgreement, cancelAgreement, createAgreement, readAgreement } from '../agreements.ts'
import { briefOf } from '../assertions.ts'
import { webPayment } from '../client.ts'
import { payOnPages } from '../journeys.ts'

export const agreements = {
  setUpAgain: {
    async seen(api) {
      const agreement = await activeAgreement(api)
      await cancelAgreement(api, agreement)
      const setUp = { ...webPayment, set_up_agreement: agreement.agreement_id }
      const answer = await api.post('/v1/payments', setUp)
      if (answer.status === 201) await payOnPages(api, answer.body)
      const after = await readAgreement(api, agreement)
      return [briefOf(answer), after.status, 'cancelled_date' in after]
    },
    specification: ['400 P0103 set_up_agreement', 'cancelled', true],
    'govuk-pay': ['201', 'active', false],
  },
  cancellableAgreements: {
    async seen(api) {
      const active = await activeAgreement(api)
      return Array.fromAsync([await createAgreement(api), active, active], async agreement =>
        briefOf(await cancelAgreement(api, agreement)),
      )
    },
    specification: ['204', '204', '400 P2501'],
    'govuk-pay': ['400 P2501', '204', '400 P2501'],
  },
} satisfies Record<string, Case>
