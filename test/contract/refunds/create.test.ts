import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError, briefOf } from '../../support/assertions.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { newPaidPayment, paidPayment, read } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const refundOf = (api: Client, { payment_id }: Body, body: unknown): Promise<Answer> =>
  api.post(`/v1/payments/${payment_id}/refunds`, body)

const expecting = (value: string) => `{"amount":1,"refund_amount_available":${value}}`
const amounting = (value: string) => `{"amount":${value}}`

/** In the order of checks. http/order-of-checks.test.ts tests that the body comes before the payment. */
const faults: [expected: string, ...bodies: string[]][] = [
  ['400 P0601 amount', '{}', amounting('null'), '{"refund_amount_available":"x"}'],
  [
    '400 P0602 amount',
    ...['"10"', '10.5', '10.0', '1e1', 'true', '[]', '"a\\u0000b"'].map(amounting),
  ],
  ['422 P0602 amount', ...['0', '10000001', `1${'0'.repeat(400)}`].map(amounting)],
  ['422 P0602 amount', '{"amount":0,"refund_amount_available":"x"}'],
  [
    '400 P0602 refund_amount_available',
    ...['"46.5"', '"-1"', '4650.5', 'false', '""'].map(expecting),
  ],
]

onSharedDatabases('Refunds: create', { control: true }, service => {
  test('POST refunds returns 400 P0603 with the reason: the status of the refunds, or amount_not_available', async () => {
    const { api, payment } = await newPaidPayment(service())
    const free = await paidPayment(api, { amount: 0 })
    const delayed = await paidPayment(api, { delayed_capture: true })
    const check = async (of: Body, amount: number, available: number, reason: RegExp) => {
      const answer = await refundOf(api, of, { amount, refund_amount_available: available })
      assertError(answer, 400, 'P0603')
      assert.match(answer.body.description, reason)
    }
    await check(await api.createPayment(), 1, 1, /pending/)
    await check(delayed, 1, 1, /unavailable/)
    await check(free, 1, 9, /full/)
    assert.equal((await refundOf(api, payment, { amount: 4000 })).status, 202)
    await check(payment, 651, 650, /amount_not_available/)
    assert.equal((await refundOf(api, payment, { amount: 650 })).status, 202)
    await check(payment, 1, 9, /full/)
  })

  test('POST refunds returns 412 P0604 for a wrong refund_amount_available, also as a text of digits, before it checks the amount', async () => {
    const { api, payment } = await newPaidPayment(service())
    for (const refund_amount_available of [0, 4649, 4651, 1e300, null, '4649'])
      for (const amount of [1, 5000])
        assertError(await refundOf(api, payment, { amount, refund_amount_available }), 412, 'P0604')
    assert.deepEqual(await read(api, payment), payment)
    for (const right of [4650, '4600'])
      assert.equal(
        (await refundOf(api, payment, { amount: 50, refund_amount_available: right })).status,
        202,
      )
  })
})

onOneDatabase('Refunds: refused bodies', service => {
  test('POST refunds returns the code and the field of a wrong body, and refunds nothing', async () => {
    const { api, payment } = await newPaidPayment(service())
    const path = `/v1/payments/${payment.payment_id}/refunds`
    const headers = { 'Content-Type': 'application/json' }
    for (const [expected, ...bodies] of faults)
      for (const body of bodies)
        assert.equal(briefOf(await api.request('POST', path, { headers, body })), expected, body)
    assert.deepEqual(await read(api, payment), payment)
  })
})
