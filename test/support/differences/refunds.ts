import type { Case } from '../../contract/differences.test.ts'
import type { Body, Client } from '../client.ts'
import { paidPayment } from '../journeys.ts'

/** The answer to a refund, then the refund by itself, in its list and in a search. */
async function refunded(api: Client): Promise<Body[]> {
  const { payment_id } = await paidPayment(api)
  await api.advance(5_000)
  const path = `/v1/payments/${payment_id}/refunds`
  const { body: made } = await api.post(path, { amount: 100 })
  const list = (await api.get(path)).body._embedded.refunds
  const { results } = (await api.get('/v1/refunds')).body
  return [made, (await api.get(`${path}/${made.refund_id}`)).body, ...list, ...results]
}

export const refunds = {
  refundSubmittedFor: {
    seen: async api => (await refunded(api)).map(({ status }) => status),
    specification: ['submitted', 'submitted', 'submitted', 'submitted'],
    'govuk-pay': ['success', 'success', 'success', 'success'],
  },
  paymentIdOfRefunds: {
    seen: async api => (await refunded(api)).map(refund => 'payment_id' in refund),
    specification: [false, true, true, true],
    'govuk-pay': [false, false, false, true],
  },
} satisfies Record<string, Case>
