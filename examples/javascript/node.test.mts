// node --test node.test.mts
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Farthing, startFarthing } from 'farthing/testing'

let farthing: Farthing
before(async () => {
  farthing = await startFarthing({ behaviour: 'govuk-pay' })
})
after(() => farthing.stop())

test('a payment is paid, refunded, and gone after 180 days', async () => {
  await using account = await farthing.account()
  const receiver = await account.receive({ events: ['card_payment_refunded'] })

  const payment = await account.payment({ amount: 2000, scenario: 'success', refund: 500 })
  assert.equal(payment.state.status, 'success')
  assert.equal((await receiver.next()).payment.refund_summary.amount_submitted, 500)

  const { body: refunds } = await account.send('GET', `/v1/payments/${payment.payment_id}/refunds`)
  assert.equal(refunds._embedded.refunds[0].status, 'success')

  await account.clock.advance('180d')
  assert.equal((await account.send('GET', `/v1/payments/${payment.payment_id}`)).status, 404)
  await account.check({ asOf: '1d' }) // rejects if what the test did would not work in production
})

test('a recurring payment is declined, and succeeds when it is tried again', async () => {
  await using account = await farthing.account()
  const names = { reference: 'R-7', description: 'A licence' }
  const { body: agreement } = await account.send('POST', '/v1/agreements', names)
  const { agreement_id } = agreement
  await account.payment({ set_up_agreement: agreement_id, scenario: 'success' })
  await account.plan({ given: { agreement_id }, scenario: 'declined', can_retry: true, hold: true })
  const monthly = { ...names, amount: 1450, authorisation_mode: 'agreement', agreement_id }
  const charge = async (key: string) =>
    (await account.send('POST', '/v1/payments', monthly, { 'Idempotency-Key': key })).body
  /** Your service reads a recurring payment until it has ended, and only then decides. */
  const ended = async (id: string) => {
    for (let reads = 0; reads < 50; reads++) {
      const { state } = (await account.send('GET', `/v1/payments/${id}`)).body
      if (state.finished) return state
      await pause(100)
    }
    throw new Error(`payment ${id} has not ended`)
  }
  const first = await charge('R-7-march')
  assert.equal(first.state.status, 'created') // as in production: the end comes later
  await account.complete(first.payment_id)
  const declined = await ended(first.payment_id)
  assert.deepEqual([declined.status, declined.can_retry], ['failed', true])
  const again = await charge('R-7-march-again')
  assert.equal((await ended(again.payment_id)).status, 'success')
})

test('a user who is back from Confirm is led on to it', async () => {
  await using account = await farthing.account()
  /** What your service shows then. A submitted payment is not paid: its link leads on to Confirm. */
  const pageFor = async (id: string) => {
    const { state, _links } = (await account.send('GET', `/v1/payments/${id}`)).body
    if (state.status === 'success') return 'Thank you'
    return state.finished ? 'Try again' : `Go on to ${_links.next_url.href}`
  }
  const { payment_id, state, _links } = await account.payment({
    scenario: 'success',
    confirm: false,
  })
  assert.equal(state.status, 'submitted')
  assert.equal(await pageFor(payment_id), `Go on to ${_links.next_url?.href}`)
  await account.complete(payment_id, 'success')
  assert.equal(await pageFor(payment_id), 'Thank you')
})
