import type { Case } from '../../contract/differences.test.ts'
import { briefOf } from '../assertions.ts'
import { webPayment } from '../client.ts'
import { HEADER } from '../new-payment.ts'

export const creating = {
  leastAmount: {
    seen: async api => briefOf(await api.post('/v1/payments', { ...webPayment, amount: 0 })),
    specification: '201',
    'govuk-pay': '422 P0102 amount',
  },
  usedKey: {
    async seen(api) {
      const headers = { [HEADER]: crypto.randomUUID() }
      const create = () => api.post('/v1/payments', webPayment, headers)
      const [first, second] = [await create(), await create()]
      return [briefOf(second), second.body.payment_id === first.body.payment_id]
    },
    specification: ['409 P0191 Idempotency-Key', false],
    'govuk-pay': ['201', false],
  },
} satisfies Record<string, Case>
