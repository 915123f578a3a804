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
