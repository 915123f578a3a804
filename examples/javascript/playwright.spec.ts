import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test as base, expect } from '@playwright/test'
import { type Account, connectFarthing, payOnPages } from 'farthing/testing'

/** `account`: one for each test. `application`: the address of the service under test, here one page that says thanks. */
const test = base.extend<{ account: Account }, { application: string }>({
  account: async ({}, use) => {
    const farthing = await connectFarthing()
    const account = await farthing.account()
    await use(account)
    // Fails the test if what it did would not work in production.
    await account.check({ asOf: '1d' }).finally(() => farthing.stop())
  },
  application: [
    async ({}, use) => {
      const server = createServer((_, response) => response.end('Thank you')).listen(0, '127.0.0.1')
      await once(server, 'listening')
      await use(`http://localhost:${(server.address() as AddressInfo).port}`)
      server.close()
    },
    { scope: 'worker' },
  ],
})

for (const scenario of ['success', 'declined', 'error', 'cancel'] as const)
  test(`a user whose payment is ${scenario} comes back`, async ({ page, account, application }) => {
    const payment = await account.payment({ return_url: `${application}/back` })
    await page.goto(payment._links.next_url?.href ?? '')
    await payOnPages(page, scenario)
    await expect(page.getByText('Thank you')).toBeVisible()
    const { state } = await account.waitForPayment(payment.payment_id)
    expect(state.status).toBe(
      { success: 'success', error: 'error' }[scenario as string] ?? 'failed',
    )
  })
