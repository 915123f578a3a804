import { type Account, connectFarthing } from 'farthing/testing'
import { test as base, expect, inject } from 'vitest'

const test = base.extend<{ account: Account }>({
  account: async ({}, use) => {
    const farthing = await connectFarthing(inject('farthing'))
    const account = await farthing.account()
    await use(account)
    // Fails the test if what it did would not work in production.
    await account.check({ asOf: '1d' }).finally(() => farthing.stop())
  },
})

test('a payment is paid, refunded, and gone after 7 days', async ({ account }) => {
  const { payment_id } = await account.payment({ scenario: 'success', refund: 500 })
  const refunds = () => account.send('GET', `/v1/payments/${payment_id}/refunds`)
  expect((await refunds()).body._embedded.refunds[0].status).toBe('submitted')
  await account.clock.advance('5s')
  expect((await refunds()).body._embedded.refunds[0].status).toBe('success')
  await account.clock.advance('7d')
  expect((await refunds()).status).toBe(404)
})

test('a recurring payment is declined, and succeeds when it is tried again', async ({
  account,
}) => {
  const names = { reference: 'R-7', description: 'A licence' }
  const { body: agreement } = await account.send('POST', '/v1/agreements', names)
  const { agreement_id } = agreement
  await account.payment({ set_up_agreement: agreement_id, scenario: 'success' })
  await account.plan({ given: { agreement_id }, scenario: 'declined' })
  const monthly = { ...names, amount: 1450, authorisation_mode: 'agreement', agreement_id }
  /** In production the response says created, so your service reads the payment later. */
  const charge = async (key: string) => {
    const headers = { 'Idempotency-Key': key }
    const { body } = await account.send('POST', '/v1/payments', monthly, headers)
    return account.send('GET', `/v1/payments/${body.payment_id}`)
  }
  const { state } = (await charge('R-7-march')).body
  expect([state.status, state.can_retry]).toEqual(['failed', true])
  expect((await charge('R-7-march-again')).body.state.status).toBe('success')
})

test('a payment is still submitted when the user is back', async ({ account }) => {
  /** What your service shows then. A submitted payment has neither succeeded nor failed. */
  const pageFor = async (id: string) => {
    const { state } = (await account.send('GET', `/v1/payments/${id}`)).body
    if (state.status === 'success') return 'Thank you'
    return state.finished ? 'Try again' : 'We will email you'
  }
  const { payment_id } = await account.payment({ scenario: 'success', hold: true })
  expect(await pageFor(payment_id)).toBe('We will email you')
  await account.complete(payment_id, 'success')
  expect(await pageFor(payment_id)).toBe('Thank you')
})
