import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { type Service, startService } from '../support/service.ts'

const screens = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 375, height: 740 },
  'narrow screen': { width: 320, height: 640 },
}

describe('The documentation in a browser', () => {
  let service: Service
  let browser: Browser
  before(async () => {
    service = await startService('sqlite')
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  for (const path of ['/', '/docs'])
    for (const [screen, viewport] of Object.entries(screens))
      test(`${path} is accessible, fits and asks only this service on a ${screen}`, () =>
        visit(browser, { viewport }, async ({ page, requests, complaints }) => {
          await page.goto(service.baseUrl + path)
          assert.deepEqual(await axe(page), [])
          for (const percent of [100, 200]) {
            await page.evaluate(`document.documentElement.style.fontSize = '${percent}%'`)
            const width = await page.evaluate<number>('document.documentElement.scrollWidth')
            assert.ok(width <= viewport.width, `${width} pixels wide, text of ${percent} %`)
          }
          for (const request of requests) assert.ok(request.startsWith(`GET ${service.baseUrl}/`))
          assert.deepEqual(complaints, [])
        }))

  test('a link in the contents leads to its endpoint, without scripts too', () =>
    visit(browser, { javaScriptEnabled: false }, async ({ page }) => {
      await page.goto(`${service.baseUrl}/docs`)
      await page.getByRole('link', { name: 'Refund a payment' }).first().click()
      const heading = page.getByRole('heading', { name: 'Refund a payment' })
      assert.equal(new URL(page.url()).hash, '#refundPayment')
      const box = await heading.boundingBox()
      assert.ok(box && box.y >= 0 && box.y < 100, 'the heading is at the top')
    }))

  test('the front page leads to the documentation and back', () =>
    visit(browser, {}, async ({ page }) => {
      await page.goto(service.baseUrl)
      await page.getByRole('link', { name: 'API documentation' }).click()
      assert.equal(await page.title(), 'API documentation - Farthing payments')
      await page.getByRole('link', { name: 'make a first payment' }).click()
      assert.equal(await page.title(), 'Farthing payments')
    }))
})
