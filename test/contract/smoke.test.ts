import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryDatabase } from '../support/service.ts'

onEveryDatabase('A payment', service => {
  test('is paid in a browser, refunded and read back', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const page = payment._links.next_url.href
    assert.equal((await api.get(page)).status, 200)
    assert.equal((await api.postForm(page, { scenario: 'success' })).status, 303)
    assert.equal((await api.get(`${page}/confirm`)).status, 200)
    const confirmed = await api.postForm(`${page}/confirm`, {})
    assert.equal(confirmed.headers.get('location'), payment.return_url)
    const refund = await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 1000 })
    assert.equal(refund.status, 202)
    const read = await api.get(`/v1/payments/${payment.payment_id}`)
    assert.equal(read.body.state.status, 'success')
    assert.equal(read.body.refund_summary.amount_available, 3650)
    const found = await api.get('/v1/payments?reference=pitch-2207')
    assert.equal(found.body.total, 1)
  })
})
