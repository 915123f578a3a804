import type { Case } from '../../contract/differences.test.ts'
import { activeAgreement } from '../agreements.ts'
import { briefOf } from '../assertions.ts'
import { payOnPages } from '../journeys.ts'

export const agreements = {
  setUpAgain: {
    async seen(api) {
      const { agreement_id } = await activeAgreement(api)
      await api.post(`/v1/agreements/${agreement_id}/cancel`)
      const answer = await api.post('/v1/payments', {
        amount: 1,
        reference: 'R',
        description: 'D',
        return_url: 'https://shop.example.org/',
        set_up_agreement: agreement_id,
      })
      if (answer.status === 201) await payOnPages(api, answer.body)
      const { body } = await api.get(`/v1/agreements/${agreement_id}`)
      return [briefOf(answer), body.status, 'cancelled_date' in body]
    },
    specification: ['400 P0103 set_up_agreement', 'cancelled', true],
    'govuk-pay': ['201', 'active', false],
  },
  cancellableAgreements: {
    async seen(api) {
      const { body } = await api.post('/v1/agreements', { reference: 'R', description: 'D' })
      const cancel = (id: string) => api.post(`/v1/agreements/${id}/cancel`)
      const created = briefOf(await cancel(body.agreement_id))
      const { agreement_id } = await activeAgreement(api)
      return [created, briefOf(await cancel(agreement_id)), briefOf(await cancel(agreement_id))]
    },
    specification: ['204', '204', '400 P2501'],
    'govuk-pay': ['400 P2501', '204', '400 P2501'],
  },
} satisfies Record<string, Case>
