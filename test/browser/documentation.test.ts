import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { startBrowser, type Visitor, visit } from '../support/browser.ts'
import { type Service, startService } from '../support/service.ts'

const screens = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
}

/** Rules that Swagger UI breaks and axe rates as minor or moderate, and contrasts over pictures that axe cannot see. */
const accepted =
  /^(aria-allowed-role|heading-order|landmark-unique): |^color-contrast: .*could not be determined/s

const KEY = 'a-key-for-the-viewer'
const CREATE = 'Payments-createPayment'

let service: Service
let browser: Browser
before(async () => {
  service = await startService('sqlite', { env: { FARTHING_API_KEY: KEY } })
  browser = await startBrowser()
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

const openDocs = (
  options: BrowserContextOptions,
  use: (visitor: Visitor) => Promise<void>,
  baseUrl = service.baseUrl,
): Promise<void> =>
  visit(browser, options, async visitor => {
    await visitor.page.goto(`${baseUrl}/docs`)
    await visitor.page.locator('.opblock').first().waitFor()
    await use(visitor)
    for (const request of visitor.requests)
      assert.ok(request.split(' ')[1]?.startsWith(`${baseUrl}/`), request)
    assert.deepEqual(visitor.complaints, [])
  })

const operation = (page: Page, id: string) => page.locator(`#operations-${id}`)

async function expand(page: Page, id: string): Promise<void> {
  await operation(page, id).locator('.opblock-summary-control').click()
  await operation(page, id).getByRole('button', { name: 'Try it out' }).click()
}

async function authorise(page: Page, key: string): Promise<void> {
  await page.locator('.auth-wrapper .authorize').first().click()
  const dialog = page.locator('.dialog-ux')
  await dialog.locator('input').fill(key)
  await dialog.getByRole('button', { name: 'Authorize' }).click()
  await dialog.locator('.btn-done').click()
}

/** Executes the expanded operation and returns the status and the body that the page shows. */
async function execute(page: Page, id: string) {
  await operation(page, id).getByRole('button', { name: 'Execute' }).click()
  const response = operation(page, id).locator('.live-responses-table tr.response')
  const status = await response.locator('.response-col_status').innerText()
  return { status, text: await response.locator('pre').first().innerText() }
}

/** Swagger UI scrolls smoothly. This waits for at most 300 frames. */
const comesToTheTop = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate<boolean>(`new Promise(resolve => {
    let frames = 0
    const look = () => {
      const { y } = document.querySelector('${selector}').getBoundingClientRect()
      if (y >= 0 && y < 100) resolve(true)
      else if (++frames === 300) resolve(false)
      else requestAnimationFrame(look)
    }
    look()
  })`)

describe('The viewer on /docs', () => {
  test('A request without a key shows the 401, and with one it creates a payment', () =>
    openDocs({}, async ({ page }) => {
      await expand(page, CREATE)
      const refused = await execute(page, CREATE)
      assert.equal(refused.status, '401')
      assert.equal(JSON.parse(refused.text).code, 'P0910')
      await authorise(page, KEY)
      const { status, text } = await execute(page, CREATE)
      assert.equal(status, '201')
      const { payment_id } = JSON.parse(text)
      const answer = await fetch(`${service.baseUrl}/v1/payments/${payment_id}`, {
        headers: { Authorization: `Bearer ${KEY}` },
      })
      assert.equal(answer.status, 200)
      const stored = 'JSON.stringify([localStorage, sessionStorage, document.cookie])'
      assert.equal(await page.evaluate(stored), '[{},{},""]')
    }))

  test('Requests go to the origin of the page when the configured addresses have another one', async () => {
    const env = {
      FARTHING_API_KEY: KEY,
      FARTHING_BASE_URL: 'https://api.example.org',
      FARTHING_PAGES_URL: 'https://pay.example.org',
    }
    const configured = await startService('sqlite', { env })
    try {
      await openDocs(
        {},
        async ({ page }) => {
          await authorise(page, KEY)
          await expand(page, CREATE)
          const { status, text } = await execute(page, CREATE)
          assert.equal(status, '201')
          assert.match(text, /https:\/\/pay\.example\.org\/secure\//)
        },
        configured.baseUrl,
      )
    } finally {
      await configured.stop()
    }
  })

  test('The contents lead to every tag and to the webhook messages, which are shown', () =>
    openDocs({}, async ({ page }) => {
      const links = page.getByRole('navigation', { name: 'Contents' }).getByRole('link')
      assert.ok((await links.count()) >= 9)
      for (const link of await links.all()) {
        const href = (await link.getAttribute('href')) ?? ''
        assert.equal(await page.locator(href).count(), 1, href)
      }
      await links.last().click()
      assert.ok(await comesToTheTop(page, '#operations-webhooks-receiveMessage'))
      const message = operation(page, 'webhooks-receiveMessage')
      for (const text of ['card_payment_captured', 'Pay-Signature', 'openssl dgst -sha256'])
        assert.ok(await message.getByText(text).first().isVisible(), text)
    }))

  // One look with everything open: axe takes seconds for a page of this size.
  for (const [screen, viewport] of Object.entries(screens))
    test(`The viewer is accessible and fits on a ${screen}, with forms, a response and the Authorize dialog open`, () =>
      openDocs({ viewport }, async ({ page }) => {
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width)
        for (const id of ['Payments-searchPayments', 'Webhooks-deleteWebhook', CREATE])
          await expand(page, id)
        await execute(page, CREATE)
        await page.locator('.auth-wrapper .authorize').first().click()
        await page.locator('.dialog-ux').waitFor()
        const found = await axe(page)
        assert.deepEqual(
          found.filter(text => !accepted.test(text)),
          [],
        )
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width)
      }))
})

describe('The pages about the service in a browser', () => {
  for (const [screen, viewport] of Object.entries({
    ...screens,
    narrow: { width: 320, height: 640 },
  }))
    test(`The front page is accessible and fits on a screen: ${screen}`, () =>
      visit(browser, { viewport }, async ({ page, complaints }) => {
        await page.goto(service.baseUrl)
        assert.deepEqual(await axe(page), [])
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width)
        assert.deepEqual(complaints, [])
      }))

  test('Without scripts the front page and /docs lead to each other and to openapi.json', () =>
    visit(browser, { javaScriptEnabled: false }, async ({ page }) => {
      await page.goto(service.baseUrl)
      await page.getByRole('link', { name: 'API documentation' }).click()
      assert.equal(await page.title(), 'API documentation – Farthing payments')
      await page.getByRole('link', { name: 'front page' }).click()
      assert.equal(await page.title(), 'Farthing payments')
      await page.getByRole('link', { name: 'openapi.json' }).click()
      assert.match(await page.innerText('body'), /"openapi":\s*"3\.1\.0"/)
    }))
})
