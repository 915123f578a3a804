import { setTimeout as pause } from 'node:timers/promises'
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

test('a payment is paid, refunded, and gone after 180 days', async ({ account }) => {
  const { payment_id } = await account.payment({ scenario: 'success', refund: 500 })
  const refunds = () => account.send('GET', `/v1/payments/${payment_id}/refunds`)
  expect((await refunds()).body._embedded.refunds[0].status).toBe('success')
  await account.clock.advance('180d')
  expect((await refunds()).status).toBe(404)
})

test('a recurring payment is declined, and succeeds when it is tried again', async ({
  account,
}) => {
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
  expect(first.state.status).toBe('created') // as in production: the end comes later
  await account.complete(first.payment_id)
  const declined = await ended(first.payment_id)
  expect([declined.status, declined.can_retry]).toEqual(['failed', true])
  const again = await charge('R-7-march-again')
  expect((await ended(again.payment_id)).status).toBe('success')
})

test('a user who is back from Confirm is led on to it', async ({ account }) => {
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
  expect(state.status).toBe('submitted')
  expect(await pageFor(payment_id)).toBe(`Go on to ${_links.next_url?.href}`)
  await account.complete(payment_id, 'success')
  expect(await pageFor(payment_id)).toBe('Thank you')
})
