/** The behaviour of open console pages. test/contract/console/live.test.ts tests the requests of their script. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  bringSession,
  focusOf,
  press,
  shareBrowser,
  useAs,
  type Visitor,
  visit,
} from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { enter } from '../support/console.ts'
import { ownService } from '../support/service.ts'

const browser = shareBrowser()
let api: Client
let cookie = ''
const service = ownService({}, async started => {
  const entered = await enter(started)
  api = entered.api
  cookie = entered.browser.cookie ?? ''
})

/** Signs in to a new window, because the clock of a page stays in its window. */
const signedIn = (use: (visitor: Visitor) => Promise<void>) =>
  visit(browser(), {}, visitor => useAs(service().baseUrl, cookie, visitor, use))

const at = (page: Page, path: string) => page.goto(`${service().baseUrl}/console/${path}`)

/** Moves the clock that the test has installed in the page by 2 s, to the next look for something new. */
const nextLook = (page: Page) => page.clock.fastForward(2_000)

describe('A page of the console that is open', () => {
  test('the banner of an action takes the focus, and so do the errors of a form', () =>
    signedIn(async ({ page }) => {
      const { payment_id } = await api.createPayment()
      await at(page, `payments/${payment_id}`)
      await press(page, '#choose-success')
      await page.waitForSelector('.govuk-notification-banner:focus')
      await page.fill('#amount', '0')
      await press(page, '#refund')
      await page.waitForSelector('.govuk-error-summary:focus')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      assert.equal(await focusOf(page), 'amount')
    }))

  test('nothing changes by itself but the notice of what is newer, until Follow is ticked', () =>
    signedIn(async ({ page }) => {
      await page.clock.install()
      await at(page, 'payments')
      const rows = () => page.locator('tbody tr').count()
      const before = await rows()
      await api.createPayment({ reference: 'R-newer' })
      await nextLook(page)
      const status = page.locator('.farthing-live [role=status]')
      await status.getByText('1 newer.').waitFor()
      assert.equal(await rows(), before)
      // Later numbers are shown, but a screen reader does not read them out.
      assert.equal(await status.getAttribute('aria-live'), 'off')
      const show = status.getByRole('link', { name: 'Show' })
      await Promise.all([page.waitForEvent('load'), show.click()])
      assert.equal(await rows(), before + 1)
      const follow = page.getByRole('checkbox', { name: 'Follow' })
      await follow.check()
      await api.createPayment({ reference: 'R-followed' })
      await nextLook(page)
      await page.getByRole('link', { name: 'R-followed' }).waitFor()
      assert.equal(await follow.isChecked(), true, 'it stays ticked')
      assert.equal(await follow.and(page.locator(':focus')).count(), 1, 'it keeps the focus')
      await page.locator('nav[aria-label=Menu] a').first().focus()
      await api.createPayment({ reference: 'R-beside' })
      await nextLook(page)
      await page.getByRole('link', { name: 'R-beside' }).waitFor()
      await page.getByRole('link', { name: 'R-followed' }).focus()
      await api.createPayment({ reference: 'R-read' })
      await nextLook(page)
      await status.getByText('1 newer.').waitFor()
      assert.equal(await page.getByRole('link', { name: 'R-read' }).count(), 0, 'somebody reads')
    }))

  test('the ages of what a page shows grow while it is open, on the clock of the account', () =>
    signedIn(async ({ page }) => {
      await page.clock.install()
      const { payment_id } = await api.createPayment({ reference: 'R-age' })
      service().clock.advance(5_000)
      await at(page, `payments/${payment_id}`)
      const present = (await page.textContent('[aria-current=step] time')) ?? ''
      const [, seconds] = /\((\d+)\sseconds\sago\)$/.exec(present) ?? []
      assert.ok(Number(seconds) >= 5, present)
      await page.clock.fastForward(120_000)
      const older = page.getByText(/\(2\sminutes\sago\)/)
      await older.first().waitFor()
      const created = (await page.getAttribute('.farthing-timeline time', 'title')) ?? ''
      assert.match(created, /^2026-09-14T08:20:\d\d\.\d{3}Z, 2 minutes ago$/)
    }))

  test('a page says that what it shows has changed, and when the session ends or another account signs in', () =>
    signedIn(async ({ page, context }) => {
      await page.clock.install()
      const { payment_id } = await api.createPayment({ reference: 'R-live' })
      await at(page, 'payments?status=created')
      await page.getByRole('checkbox', { name: 'Follow' }).check()
      const payment = await context.newPage()
      await at(payment, `payments/${payment_id}`)
      await press(payment, '#choose-error')
      await payment.close()
      await nextLook(page)
      await page.getByRole('link', { name: 'R-live' }).waitFor({ state: 'detached' })
      await at(page, `payments/${payment_id}`)
      const status = page.locator('.farthing-live [role=status]')
      await api.get(`/v1/payments/${payment_id}`)
      await nextLook(page)
      await status.getByText(/^Changed \d+ s ago/).waitFor()
      await status.getByRole('link', { name: 'Show' }).click()
      await page.getByText('GET /v1/payments').first().waitFor()
      await bringSession(context, service().baseUrl, (await enter(service())).browser.cookie)
      await nextLook(page)
      await status.getByText('You are now in another account.').waitFor()
      await at(page, 'payments')
      await context.clearCookies()
      await nextLook(page)
      await status.getByText('You are signed out.').waitFor()
      await status.getByRole('link', { name: 'Sign in' }).click()
      await page.waitForURL(/sign-in\?to=payments$/)
    }))
})
