const { connectFarthing } = require('farthing/testing')

let farthing
let account
beforeAll(async () => {
  farthing = await connectFarthing()
})
beforeEach(async () => {
  account = await farthing.account()
})
// Fails the test if what it did would not work in production.
afterEach(() => account.check({ asOf: '1d' }).finally(() => account.end()))
afterAll(() => farthing.stop())

test('a payment is paid, refunded, and gone after 7 days', async () => {
  jest.useFakeTimers() // those of the test do not touch the service or the library
  const { payment_id } = await account.payment({ scenario: 'success', refund: 500 })
  const refunds = () => account.send('GET', `/v1/payments/${payment_id}/refunds`)
  expect((await refunds()).body._embedded.refunds[0].status).toBe('submitted')
  await account.clock.advance('5s')
  expect((await refunds()).body._embedded.refunds[0].status).toBe('success')
  await account.clock.advance('7d')
  expect((await refunds()).status).toBe(404)
})
