import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { newPaidPayment, paidPayment, read } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const refundOf = (api: Client, { payment_id }: Body, body: unknown): Promise<Answer> =>
  api.post(`/v1/payments/${payment_id}/refunds`, body)

type Fault = [body: string, status: number, code: string, field: string]
const wrong = (bodies: string[], ...expected: [number, string, string]): Fault[] =>
  bodies.map(body => [body, ...expected])
const expecting = (value: string) => `{"amount":1,"refund_amount_available":${value}}`
const amounting = (value: string) => `{"amount":${value}}`

/** In the order in which they are checked. */
const faults: Fault[] = [
  ...wrong(['{}', amounting('null'), '{"refund_amount_available":"x"}'], 400, 'P0601', 'amount'),
  ...wrong(
    ['"10"', '10.5', '10.0', '1e1', 'true', '[]', '"a\\u0000b"'].map(amounting),
    400,
    'P0602',
    'amount',
  ),
  ...wrong(['0', '10000001', `1${'0'.repeat(400)}`].map(amounting), 422, 'P0602', 'amount'),
  ...wrong(
    ['"46.5"', '"-1"', '4650.5', 'false', '""'].map(expecting),
    400,
    'P0602',
    'refund_amount_available',
  ),
]

onSharedDatabases('Refunds: create', { control: true }, service => {
  test('POST refunds checks the body before the payment, and the amount first', async () => {
    const api = await service().newAccount()
    const unknown = { payment_id: 'unknown' }
    assertError(await refundOf(api, unknown, {}), 400, 'P0601', { field: 'amount' })
    const both = { amount: 0, refund_amount_available: 'x' }
    assertError(await refundOf(api, unknown, both), 422, 'P0602', { field: 'amount' })
    const second = { amount: 1, refund_amount_available: 'x' }
    const field = 'refund_amount_available'
    assertError(await refundOf(api, unknown, second), 400, 'P0602', { field })
    assertError(await refundOf(api, unknown, { amount: 1 }), 404, 'P0600')
  })

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

  test('POST refunds uses the last of equal keys and ignores unknown keys', async () => {
    const { api, payment } = await newPaidPayment(service())
    const path = `/v1/payments/${payment.payment_id}/refunds`
    for (const [body, amount] of [
      ['{"amount":5.0,"amount":7}', 7],
      ['{"amount":3,"nonsense":{"amount":9.0}}', 3],
    ] as const) {
      const answer = await api.request('POST', path, { headers: JSON_TYPE, body })
      assert.equal(answer.status, 202, answer.text)
      assert.equal(answer.body.amount, amount)
    }
  })
})

onOneDatabase('Refunds: refused bodies', service => {
  test('POST refunds returns the code and the field of a wrong body, and refunds nothing', async () => {
    const { api, payment } = await newPaidPayment(service())
    const path = `/v1/payments/${payment.payment_id}/refunds`
    const post = (body: string) => api.request('POST', path, { headers: JSON_TYPE, body })
    for (const [body, status, code, field] of faults)
      assertError(await post(body), status, code, { field })
    assert.deepEqual(await read(api, payment), payment)
  })
})
