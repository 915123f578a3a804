import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Send } from '../../src/ports.ts'
import { startBrowser, type Visitor, visit } from '../support/browser.ts'
import type { Body, Client } from '../support/client.ts'
import { read, statusesOf } from '../support/journeys.ts'
import { choose, type Language, paymentIn, press } from '../support/page-states.ts'
import { type Answer, type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

const SITE = 'receiver.test'
const OTHER_SITE = 'other.receiver.test'

let service: Service
let api: Client
let browser: Browser
/** The client's site, which users come back to: everything below /onward sends them to another one. */
let site: Receiver
let otherSite: Receiver

const welcome = ({ response }: Answer) =>
  response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Back</title><h1>Back')

/** What the confirm page waits for where an account has a webhook. */
let deliveries = Promise.resolve()
const send: Send = async () => {
  await deliveries
  return { status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }
}

before(async () => {
  service = await startService('sqlite', { send })
  api = await service.newAccount()
  browser = await startBrowser()
  otherSite = await startReceiver({ onRequest: welcome })
  site = await startReceiver({
    onRequest(answer) {
      if (!answer.request.path.startsWith('/onward')) return welcome(answer)
      const location = `https://${OTHER_SITE}:${otherSite.port}/third?from=second`
      answer.response.writeHead(302, { location }).end()
    },
  })
})

after(async () => {
  await browser?.close()
  await site?.close()
  await otherSite?.close()
  await service?.stop()
})

const returnUrl = (path = '/paid/41?pitch=22') => `https://${SITE}:${site.port}${path}`
const pageOf = (payment: Body): string => payment._links.next_url.href

const newPayment = (language: Language, fields = {}) =>
  paymentIn(api, language, { return_url: returnUrl(), ...fields })

async function codeOf(payment: Body): Promise<[status: string, code: string | undefined]> {
  const { state } = await read(api, payment)
  return [state.status, state.code]
}

const heading = ({ page }: Visitor) => page.textContent('h1')

const headings = {
  en: {
    details: 'Enter payment details',
    confirm: 'Confirm your payment',
    cancelled: 'Your payment has been cancelled',
    declined: 'Your payment has been declined',
    error: 'Sorry, we are having technical problems',
  },
  cy: {
    details: 'Rhowch fanylion y taliad',
    confirm: 'Cadarnhewch eich taliad',
    cancelled: 'Mae eich taliad wedi’i ganslo',
    declined: 'Mae eich taliad wedi’i wrthod',
    error: 'Mae’n ddrwg gennym, rydym yn cael problemau technegol',
  },
}

for (const language of ['en', 'cy'] as const)
  for (const javaScriptEnabled of [true, false])
    describe(`A journey, ${language}, ${javaScriptEnabled ? 'with' : 'without'} script`, () => {
      const text = headings[language]
      const journey = (use: (visitor: Visitor) => Promise<void>) =>
        visit(browser, { javaScriptEnabled }, use)

      for (const delayed_capture of [false, true]) {
        const last = delayed_capture ? 'capturable' : 'success'
        test(`succeeds: it ends at return_url and the payment is ${last}`, () =>
          journey(async visitor => {
            const payment = await newPayment(language, { delayed_capture })
            const { page } = visitor
            await page.goto(pageOf(payment))
            assert.equal(await heading(visitor), text.details)
            await choose(page, 'success')
            assert.equal(page.url(), `${pageOf(payment)}/confirm`)
            assert.equal(await heading(visitor), text.confirm)
            await page.click('#confirm')
            await page.waitForURL(returnUrl())
            assert.equal(await heading(visitor), 'Back')
            assert.deepEqual(await statusesOf(api, payment), [
              'created',
              'started',
              'submitted',
              last,
            ])
            assert.deepEqual(visitor.complaints, [])
          }))
      }

      const endings: ['declined' | 'error' | 'cancel', string, string, string][] = [
        ['declined', text.declined, 'failed', 'P0010'],
        ['error', text.error, 'error', 'P0050'],
        ['cancel', text.cancelled, 'failed', 'P0030'],
      ]
      for (const [scenario, title, status, code] of endings)
        test(`ends with ${scenario}, and Continue leads to return_url`, () =>
          journey(async visitor => {
            const payment = await newPayment(language)
            await visitor.page.goto(pageOf(payment))
            await choose(visitor.page, scenario)
            assert.equal(await heading(visitor), title)
            assert.deepEqual(await codeOf(payment), [status, code])
            await visitor.page.click('#return-url')
            await visitor.page.waitForURL(returnUrl())
            assert.deepEqual(visitor.complaints, [])
          }))

      test('is cancelled by the button of the first page, whatever is chosen there', () =>
        journey(async visitor => {
          const payment = await newPayment(language)
          await visitor.page.goto(pageOf(payment))
          await visitor.page.check('#scenario')
          await press(visitor.page, '#cancel-payment')
          assert.equal(await heading(visitor), text.cancelled)
          assert.deepEqual(await codeOf(payment), ['failed', 'P0030'])
        }))

      test('is cancelled by the button of the confirm page', () =>
        journey(async visitor => {
          const payment = await newPayment(language)
          await visitor.page.goto(pageOf(payment))
          await choose(visitor.page, 'success')
          await press(visitor.page, '#cancel-payment')
          assert.equal(await heading(visitor), text.cancelled)
          assert.deepEqual(await codeOf(payment), ['failed', 'P0030'])
        }))

      test('goes on after nothing was chosen', () =>
        journey(async visitor => {
          const payment = await newPayment(language)
          await visitor.page.goto(pageOf(payment))
          await press(visitor.page, '#submit-card-details')
          assert.equal(await visitor.page.locator('[role=alert]').count(), 1)
          await choose(visitor.page, 'success')
          assert.equal(await heading(visitor), text.confirm)
        }))

      test('begins with a form of the client’s site, and its token shows in no address', () =>
        journey(async visitor => {
          const payment = await newPayment(language)
          const { href, params } = payment._links.next_url_post
          const start = await startReceiver({
            plain: true,
            onRequest: ({ response }) =>
              response
                .setHeader('Content-Type', 'text/html')
                .end(
                  `<form method="post" action="${href}"><input name="chargeTokenId" value="${params.chargeTokenId}"><button>Pay</button></form>`,
                ),
          })
          const { page } = visitor
          await page.goto(start.url)
          await page.click('button')
          assert.equal(await heading(visitor), text.details)
          await press(page, '#submit-card-details')
          await choose(page, 'success')
          assert.equal(await heading(visitor), text.confirm)
          await page.click('#confirm')
          await page.waitForURL(returnUrl())
          assert.deepEqual(await codeOf(payment), ['success', undefined])
          for (const request of visitor.requests)
            assert.ok(!request.includes(params.chargeTokenId), request)
          assert.deepEqual(visitor.complaints, [])
          await start.close()
        }))
    })

describe('The content security policy lets the browser', () => {
  test('follow the redirect after Confirm to return_url, and on from there to a third site', () =>
    visit(browser, {}, async ({ page, complaints }) => {
      const payment = await newPayment('en', { return_url: returnUrl('/onward') })
      await page.goto(pageOf(payment))
      await choose(page, 'success')
      await page.click('#confirm')
      await page.waitForURL(`https://${OTHER_SITE}:${otherSite.port}/third?from=second`)
      assert.deepEqual(complaints, [])
    }))

  test('follow the redirect of a form that came too late', () =>
    visit(browser, {}, async ({ page, complaints }) => {
      const payment = await newPayment('en', { return_url: returnUrl('/onward') })
      await page.goto(pageOf(payment))
      await api.post(payment._links.cancel.href)
      await choose(page, 'declined')
      await page.waitForURL(/third/)
      assert.deepEqual(complaints, [])
    }))
})

describe('It is safe to', () => {
  test('go back from the confirm page, and to choose again', () =>
    visit(browser, {}, async visitor => {
      const { page } = visitor
      const payment = await newPayment('en')
      await page.goto(pageOf(payment))
      await choose(page, 'success')
      await page.goBack()
      assert.equal(await heading(visitor), headings.en.details)
      await choose(page, 'declined')
      assert.equal(await heading(visitor), headings.en.declined)
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
    }))

  test('go back after the payment was confirmed: the browser asks, and is sent on', () =>
    visit(browser, {}, async ({ page, requests }) => {
      const payment = await newPayment('en')
      await page.goto(pageOf(payment))
      await choose(page, 'success')
      await page.click('#confirm')
      await page.waitForURL(returnUrl())
      const before = requests.length
      await page.goBack()
      assert.equal(page.url(), returnUrl())
      assert.deepEqual(requests.slice(before, before + 2), [
        `GET ${pageOf(payment)}/confirm`,
        `GET ${returnUrl()}`,
      ])
      assert.equal((await statusesOf(api, payment)).length, 4)
    }))

  test('go back to a page that the browser has kept, although it must not: the page asks again', () =>
    visit(browser, {}, async ({ page }) => {
      const payment = await newPayment('en')
      await page.goto(pageOf(payment))
      await choose(page, 'success')
      await api.postForm(`${pageOf(payment)}/confirm`, {})
      // No browser that a test drives keeps pages: it would show the page again with this event.
      await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
      await page.waitForURL(returnUrl())
    }))

  test('reload every page', () =>
    visit(browser, {}, async visitor => {
      const { page } = visitor
      const payment = await newPayment('en')
      await page.goto(pageOf(payment))
      await page.reload()
      assert.equal(await heading(visitor), headings.en.details)
      await press(page, '#submit-card-details')
      await page.reload()
      assert.equal(await page.locator('[role=alert]').count(), 1)
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
      await choose(page, 'success')
      await page.reload()
      assert.equal(await heading(visitor), headings.en.confirm)
      await press(page, '#cancel-payment')
      assert.equal(await heading(visitor), headings.en.cancelled)
      await page.reload()
      await page.waitForURL(returnUrl())
      assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
    }))

  for (const javaScriptEnabled of [true, false])
    test(`press Confirm again while the first answer is awaited, ${javaScriptEnabled ? 'with script: one POST' : 'without script'}`, () =>
      visit(browser, { javaScriptEnabled }, async ({ page, requests }) => {
        const impatient = await service.newAccount()
        await impatient.post('/v1/webhooks', { callback_url: 'https://slow.example.org/' })
        const payment = await paymentIn(impatient, 'en', { return_url: returnUrl() })
        const confirm = `POST ${pageOf(payment)}/confirm`
        // The script takes no second press within a second: time stands still until both are done.
        await page.clock.install()
        await page.goto(pageOf(payment))
        await choose(page, 'success')
        await page.clock.pauseAt(Date.now() + 60_000)
        const { promise: delivery, resolve: deliver } = Promise.withResolvers<void>()
        deliveries = delivery
        const { x, y } = (await page.locator('#confirm').boundingBox())!
        const pressConfirm = () => page.mouse.click(x + 5, y + 5)
        // Not waitForURL, which fails at the end of the request that the second press gives up.
        const paid = page.waitForEvent('load')
        await Promise.all([page.waitForRequest(/confirm$/), pressConfirm()])
        await pressConfirm()
        deliver()
        await paid
        assert.equal(page.url(), returnUrl())
        const confirms = requests.filter(request => request === confirm)
        assert.equal(confirms.length, javaScriptEnabled ? 1 : 2)
        assert.deepEqual(await statusesOf(impatient, payment), [
          'created',
          'started',
          'submitted',
          'success',
        ])
      }))
})
