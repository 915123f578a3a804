// node --test node.test.mts
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Farthing, startFarthing } from 'farthing/testing'

let farthing: Farthing
before(async () => {
  farthing = await startFarthing()
})
after(() => farthing.stop())

test('a payment is paid, refunded, and gone after 7 days', async () => {
  await using account = await farthing.account()
  const receiver = await account.receive({ events: ['card_payment_refunded'] })

  const payment = await account.payment({ amount: 2000, scenario: 'success', refund: 500 })
  assert.equal(payment.state.status, 'success')
  assert.equal((await receiver.next()).payment.refund_summary.amount_submitted, 500)

  await account.clock.advance('5s')
  const { body: refunds } = await account.send('GET', `/v1/payments/${payment.payment_id}/refunds`)
  assert.equal(refunds._embedded.refunds[0].status, 'success')

  await account.clock.advance('7d')
  assert.equal((await account.send('GET', `/v1/payments/${payment.payment_id}`)).status, 404)
  await account.check({ asOf: '1d' }) // rejects if what the test did would not work in production
})
