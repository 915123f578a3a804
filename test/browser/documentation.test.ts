import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import {
  boxOf,
  hiddenWidth,
  look,
  openWindow,
  shareBrowser,
  type Visitor,
  visitInOneWindow,
} from '../support/browser.ts'
import { createClient } from '../support/client.ts'
import { read } from '../support/journeys.ts'
import { ownService } from '../support/service.ts'

const screens = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }

/** axe cannot see the contrast of text over a picture. */
const accepted = /^color-contrast: .*could not be determined/s

const KEY = 'a-key-for-the-viewer'
const CREATE = 'Payments-createPayment'

const browser = shareBrowser()
const service = ownService()

const inWindow = visitInOneWindow(browser)
const withoutScript = visitInOneWindow(browser, { javaScriptEnabled: false })

const operation = (page: Page, id: string) => page.locator(`#operations-${id}`)

async function expand(page: Page, id: string): Promise<void> {
  await operation(page, id).locator('.opblock-summary-control').click()
  await operation(page, id).getByRole('button', { name: 'Try it out' }).click()
}

async function openDialog(page: Page) {
  await page.locator('.auth-wrapper .authorize').first().click()
  const dialog = page.locator('.dialog-ux')
  await dialog.waitFor()
  return dialog
}

async function execute(page: Page, id: string) {
  const [received] = await Promise.all([
    page.waitForResponse(`${new URL(page.url()).origin}/v1/payments`),
    operation(page, id).getByRole('button', { name: 'Execute' }).click(),
  ])
  const response = operation(page, id).locator('.live-responses-table tr.response')
  const status = response.locator('.response-col_status')
  // The page shows an earlier response until it has drawn this one.
  await status.getByText(`${received.status()}`).waitFor()
  const text = await response.locator('pre').first().innerText()
  return { status: await status.innerText(), body: JSON.parse(text) }
}

/** Waits until an element is at the top of the window. Scripts of Swagger UI scroll smoothly. */
async function comesToTheTop(page: Page, selector: string): Promise<void> {
  for (let y = -1; y < 0 || y >= 100; ) y = (await boxOf(page, selector)).y
}

describe('The viewer on /docs', () => {
  /** A service whose configured addresses have another origin than the page. */
  const configured = ownService({
    env: {
      FARTHING_API_KEY: KEY,
      FARTHING_BASE_URL: 'https://api.example.org',
      FARTHING_PAGES_URL: 'https://pay.example.org',
    },
  })
  // A page of this size takes seconds to load, so the tests share it.
  let viewer: Visitor
  let page: Page
  before(async () => {
    viewer = await openWindow(browser(), { viewport: screens.desktop })
    page = viewer.page
    await page.goto(`${configured().baseUrl}/docs`)
    await page.locator('.opblock').first().waitFor()
  })
  after(() => viewer?.context.close())

  test('The contents lead to every tag and to the webhook messages, which are shown', async () => {
    const links = page.getByRole('navigation', { name: 'Contents' }).getByRole('link')
    assert.ok((await links.count()) >= 9)
    for (const link of await links.all()) {
      const href = (await link.getAttribute('href')) ?? ''
      assert.equal(await page.locator(href).count(), 1, href)
    }
    await links.last().click()
    await comesToTheTop(page, '#operations-webhooks-receiveMessage')
    const message = operation(page, 'webhooks-receiveMessage')
    for (const text of ['card_payment_captured', 'Pay-Signature', 'openssl dgst -sha256'])
      await message.getByText(text).first().waitFor()
  })

  test('A request without a key shows the 401, and with one it creates a payment, at the origin of the page', async () => {
    await expand(page, CREATE)
    const refused = await execute(page, CREATE)
    assert.deepEqual([refused.status, refused.body.code], ['401', 'P0910'])
    const dialog = await openDialog(page)
    await dialog.locator('input').fill(KEY)
    await dialog.getByRole('button', { name: 'Authorize' }).click()
    await dialog.locator('.btn-done').click()
    const { status, body } = await execute(page, CREATE)
    assert.equal(status, '201')
    assert.match(body._links.next_url.href, /^https:\/\/pay\.example\.org\/secure\//)
    await read(createClient(configured().baseUrls, KEY), body)
    const stored = 'JSON.stringify([localStorage, sessionStorage, document.cookie])'
    assert.equal(await look(page, stored), '[{},{},""]')
  })

  test('The viewer is accessible and fits on a desktop and a phone, with forms, a response and the Authorize dialog open', async () => {
    for (const id of ['Payments-searchPayments', 'Webhooks-deleteWebhook']) await expand(page, id)
    await openDialog(page)
    for (const viewport of Object.values(screens)) {
      await page.setViewportSize(viewport)
      assert.equal(await hiddenWidth(page), 0)
    }
    const found = (await axe(page)).filter(text => !accepted.test(text))
    assert.deepEqual(found, [])
  })

  test('The viewer has sent all its requests to the origin of the page and logged no error', () => {
    for (const request of viewer.requests)
      assert.ok(request.split(' ')[1]?.startsWith(`${configured().baseUrl}/`), request)
    assert.deepEqual(viewer.complaints, [])
  })
})

test('The front page is accessible and fits on every screen', () =>
  inWindow(async ({ page, complaints }) => {
    await page.goto(service().baseUrl)
    for (const viewport of [screens.desktop, screens.phone, { width: 320, height: 640 }]) {
      await page.setViewportSize(viewport)
      assert.equal(await hiddenWidth(page), 0)
    }
    assert.deepEqual(await axe(page), [])
    assert.deepEqual(complaints, [])
  }))

test('Without scripts the front page and /docs lead to each other and to openapi.json', () =>
  withoutScript(async ({ page }) => {
    await page.goto(service().baseUrl)
    await page.getByRole('link', { name: 'API documentation' }).click()
    assert.equal(await page.title(), 'API documentation – Farthing payments')
    await page.getByRole('link', { name: 'front page', exact: true }).click()
    assert.equal(await page.title(), 'Farthing payments')
    await page.getByRole('link', { name: 'openapi.json' }).click()
    assert.match(await page.innerText('body'), /"openapi":\s*"3\.1\.0"/)
  }))
