/** Tasks of people, with the clicks that each takes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { shareBrowser, visit } from '../support/browser.ts'
import { type Service, startService } from '../support/service.ts'

const browser = shareBrowser()
let service: Service

before(async () => {
  service = await startService('sqlite')
})

after(() => service?.stop())

/** Clicks, and waits for the page that each leads to. */
function counting(page: Page) {
  let clicks = 0
  const click = async (selector: string) => {
    clicks += 1
    await Promise.all([page.waitForEvent('load'), page.click(selector)])
  }
  return { click, taken: () => clicks }
}

const heading = (page: Page) => page.textContent('h1')

describe('Tasks in the console, without script', () => {
  test('from the front page a ready-made payment takes three clicks, and one by hand five', () =>
    visit(browser(), { javaScriptEnabled: false }, async ({ page }) => {
      const { key = '' } = await service.newAccount()
      const ready = counting(page)
      await page.goto(service.baseUrl)
      await ready.click('#make-payment')
      await page.fill('#key', key)
      await ready.click('#sign-in')
      await ready.click('#ready-paid')
      assert.match((await heading(page)) ?? '', /Payment of £14\.50 success/)
      assert.equal(ready.taken(), 3)
      const byHand = counting(page)
      await page.goto(`${service.baseUrl}/console`)
      await byHand.click('a:has-text("Make a payment")')
      await byHand.click('#create')
      await byHand.click('a:has-text("Open the payment page")')
      await page.check('#scenario')
      await byHand.click('#submit-card-details')
      await byHand.click('#confirm')
      assert.equal(await heading(page), 'You are back')
      assert.match((await page.textContent('main')) ?? '', /The payment is success/)
      assert.equal(byHand.taken(), 5)
    }))

  test('a refund in pounds and a cancellation by the API take two clicks each from the list', () =>
    visit(browser(), { javaScriptEnabled: false }, async ({ page }) => {
      const api = await service.newAccount()
      await page.goto(`${service.baseUrl}/console/payments/new`)
      await page.fill('#key', api.key ?? '')
      await counting(page).click('#sign-in')
      await counting(page).click('#ready-paid')
      for (const [link, button, banner] of [
        ['a:has-text("CONSOLE-")', '#refund', 'A refund of £10.00 is submitted.'],
        ['a:has-text("R-open")', '#cancel', 'The payment was cancelled through the API (P0040).'],
      ] as const) {
        if (button === '#cancel') await api.createPayment({ reference: 'R-open' })
        await page.goto(`${service.baseUrl}/console/payments`)
        const { click, taken } = counting(page)
        await click(link)
        if (button === '#refund') await page.fill('#amount', '10')
        await click(button)
        assert.equal(await page.textContent('.govuk-notification-banner__heading'), banner)
        assert.equal(taken(), 2)
      }
    }))

  test('a summary for a colleague takes two clicks from the list', () =>
    visit(browser(), {}, async ({ page, context }) => {
      const api = await service.newAccount()
      await api.createPayment({ reference: 'R-summary' })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.goto(`${service.baseUrl}/console/payments`)
      await page.fill('#key', api.key ?? '')
      await counting(page).click('#sign-in')
      await counting(page).click('a:has-text("R-summary")')
      await page.getByRole('button', { name: 'Copy summary' }).click()
      await page.getByText('Copied', { exact: false }).waitFor()
      const copied = await page.evaluate('navigator.clipboard.readText()')
      assert.match(String(copied), /^R-summary: £46\.50, created/)
    }))

  test('from a part of its reference to a payment takes two clicks, and following refused requests two', () =>
    visit(browser(), {}, async ({ page }) => {
      const api = await service.newAccount()
      await api.createPayment({ reference: 'Market stall 7' })
      await page.goto(`${service.baseUrl}/console/payments`)
      await page.fill('#key', api.key ?? '')
      await counting(page).click('#sign-in')
      const find = counting(page)
      await page.fill('#q', 'stall')
      await find.click('#search')
      await find.click('a:has-text("Market stall 7")')
      assert.equal(find.taken(), 2)
      await page.goto(`${service.baseUrl}/console/requests`)
      await counting(page).click('a:has-text("Only refused")')
      await page.getByLabel('Follow').check()
      await api.get('/v1/payments/unknown')
      await page.getByText('404').first().waitFor({ timeout: 4_000 })
      await api.get('/v1/payments')
      assert.equal(await page.getByText('GET /v1/payments', { exact: true }).count(), 0)
    }))
})
