/** Tasks of people, with the clicks that each takes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { shareBrowser, type Visitor, visitInOneWindow } from '../support/browser.ts'
import { deciding, hex, signatureIn } from '../support/checking-receivers.ts'
import { type Client, createClient } from '../support/client.ts'
import { signIn } from '../support/console.ts'
import { ask } from '../support/control.ts'
import { type Service, startService } from '../support/service.ts'
import { receiving, subscribe } from '../support/subscriber.ts'

const browser = shareBrowser()
let service: Service

before(async () => {
  service = await startService('sqlite', { ...receiving, control: true })
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

const withoutScript = visitInOneWindow(browser, { javaScriptEnabled: false })
const withScript = visitInOneWindow(browser)

/** Opens a page of the console, signed in. */
async function openAs(api: Client, { page, context }: Visitor, path: string) {
  const [name = '', value = ''] = (await signIn(service, api)).cookie?.split('=') ?? []
  await context.addCookies([{ name, value, url: service.baseUrl }])
  await page.goto(`${service.baseUrl}/console/${path}`)
}

const heading = (page: Page) => page.textContent('h1')

describe('Tasks in the console', () => {
  test('from the front page a ready-made payment takes three clicks, and one by hand five', () =>
    withoutScript(async ({ page }) => {
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
    withoutScript(async visitor => {
      const { page } = visitor
      const api = await service.newAccount()
      await openAs(api, visitor, 'payments/new')
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
    withScript(async visitor => {
      const { page, context } = visitor
      const api = await service.newAccount()
      await api.createPayment({ reference: 'R-summary' })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await openAs(api, visitor, 'payments')
      await counting(page).click('a:has-text("R-summary")')
      await page.getByRole('button', { name: 'Copy summary' }).click()
      await page.getByText('Copied', { exact: false }).waitFor()
      const copied = await page.evaluate('navigator.clipboard.readText()')
      assert.match(String(copied), /^R-summary: £46\.50, created/)
    }))

  test('from a part of its reference to a payment takes two clicks, and following refused requests two', () =>
    withScript(async visitor => {
      const { page } = visitor
      const api = await service.newAccount()
      await api.createPayment({ reference: 'Market stall 7' })
      await openAs(api, visitor, 'payments')
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

  test('why a receiver refuses messages takes two clicks and no typing, a comparison one value, sending all again one click', async t => {
    const api = await service.newAccount()
    let expected = (body: string) => body
    const { requests, webhook } = await subscribe(t, api, {
      behaviour: deciding(request => signatureIn(request) === expected(request.body)),
    })
    const { signing_key } = webhook
    expected = body => hex(body, `${signing_key}\n`)
    const { payment_id } = await api.createPayment({ reference: 'R-refused' })
    await api.post(`/v1/payments/${payment_id}/cancel`)
    await withoutScript(async visitor => {
      const { page } = visitor
      await openAs(api, visitor, 'payments')
      const why = counting(page)
      await why.click('a:has-text("1 failed")')
      await why.click('#ask-receiver')
      assert.match(await page.innerText('#asked'), /the key with a newline at its end/)
      assert.equal(why.taken(), 2)
      await counting(page).click('a:has-text("Compare signatures")')
      await page.fill('#computed', expected(requests[0]?.body ?? ''))
      await counting(page).click('#analyse')
      assert.match(await page.innerText('#result'), /newline/)
      expected = body => hex(body, signing_key)
      await page.goto(`${service.baseUrl}/console`)
      await counting(page).click('button:has-text("Send all failed again")')
      assert.match(await page.innerText('main'), /are being sent again/)
      await page.goto(`${service.baseUrl}/console/deliveries`)
      while (!/1 of 1, 1 was accepted/.test(await page.innerText('#resent')))
        await counting(page).click('a:has-text("Refresh")')
    })
  })

  test('from the list to the request that created a payment takes two clicks, and to a page of a test account two', () =>
    withoutScript(async visitor => {
      const { page } = visitor
      const api = await service.newAccount()
      await api.createPayment({ reference: 'R-request' })
      const { body: inner } = await ask(service, api, 'accounts', {})
      await createClient(service.baseUrls, inner.key).createPayment({ reference: 'R-inner' })
      await openAs(api, visitor, 'payments')
      const request = counting(page)
      await request.click('a:has-text("R-request")')
      await request.click('a:has-text("POST /v1/payments")')
      assert.match(await page.innerText('main'), /curl .*"reference":"R-request"/s)
      const inside = counting(page)
      await inside.click('.farthing-account a')
      await inside.click('a:has-text("Look inside")')
      assert.match(await page.innerText('.farthing-account'), new RegExp(inner.account))
      assert.deepEqual([request.taken(), inside.taken()], [2, 2])
      await counting(page).click('#sign-out')
      assert.match((await heading(page)) ?? '', /Sign in/)
    }))
})
