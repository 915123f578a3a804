import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../../support/client.ts'
import { asking, made } from '../../support/control.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Refunds that fail', { control: true }, service => {
  const control = asking(service)

  test('a refund that fails is submitted for 5 seconds, and its amount is available again', async () => {
    const api = await service().newAccount()
    await made(control(api, 'clock', { freeze: true }))
    for (const way of ['plan', 'build'] as const) {
      const built = way === 'build' && { refund: { amount: 500, scenario: 'error' } }
      const { payment_id } = await made(control(api, 'payments', { scenario: 'success', ...built }))
      const path = `/v1/payments/${payment_id}`
      if (way === 'plan') {
        const given = { on: 'refundPayment', payment_id, scenario: 'error' }
        await made(control(api, 'plans', given))
        const { status, body } = await api.post(`${path}/refunds`, { amount: 500 })
        assert.deepEqual([status, body.status], [202, 'submitted'])
      }
      const summary = async () => {
        const [one, many] = [await api.get(path), await api.get('/v1/payments')]
        assert.deepEqual(many.body.results[0].refund_summary, one.body.refund_summary)
        const { status, amount_available, amount_submitted } = one.body.refund_summary
        return [status, amount_available, amount_submitted]
      }
      const refunds = async () => {
        const { body } = await api.get(`${path}/refunds`)
        return body._embedded.refunds.map((refund: Body) => refund.status)
      }
      assert.deepEqual(await summary(), ['available', 950, 500])
      const tooMuch = await api.post(`${path}/refunds`, { amount: 951 })
      assert.equal(tooMuch.body.code, 'P0603')
      await api.advance(4_999)
      assert.deepEqual(await refunds(), ['submitted'])
      await api.advance(1)
      assert.deepEqual(await refunds(), ['error'])
      assert.deepEqual(await summary(), ['available', 1450, 0])
      const all = { amount: 1450, refund_amount_available: 1450 }
      assert.equal((await api.post(`${path}/refunds`, all)).status, 202)
      assert.deepEqual(await summary(), ['full', 0, 1450])
      await api.advance(5_000)
      assert.deepEqual(await refunds(), ['error', 'success'])
      assert.deepEqual(await summary(), ['full', 0, 1450])
      const { body } = await api.get('/v1/refunds')
      assert.deepEqual(
        body.results.slice(0, 2).map(({ status }: Body) => status),
        ['success', 'error'],
      )
    }
  })
})
