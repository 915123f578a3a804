import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Send } from '../../src/core/ports.ts'
import { messages } from '../../src/pay/hosted/pages.ts'
import { shareBrowser, type Visitor, visit, visitInOneWindow } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { pageOf } from '../support/hosted-page.ts'
import { statusesOf } from '../support/journeys.ts'
import { choose, type Language, paymentIn } from '../support/page-states.ts'
import { type Answer, type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

const SITE = 'receiver.test'
const OTHER_SITE = 'other.receiver.test'
const PAID = ['created', 'started', 'submitted', 'success']

let service: Service
let api: Client
/** The site that return_url leads to. Its paths below /onward redirect to another site. */
let site: Receiver
let otherSite: Receiver
/** A site that speaks http only, and is in FARTHING_RETURN_HOSTS. */
let plainSite: Receiver

const leadingTo = (address: () => string) => ({
  onRequest: ({ request, response }: Answer) => {
    if (request.path === '/onward') response.writeHead(302, { location: address() }).end()
    else response.setHeader('Content-Type', 'text/html').end('<!doctype html><h1>Back')
  },
})

/** No webhook message is sent before this promise ends, and Confirm waits for the message. */
let deliveries = Promise.resolve()
const send: Send = async () => {
  await deliveries
  return { status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }
}
const browser = shareBrowser()

before(async () => {
  const plain = leadingTo(() => `http://127.0.0.1:${plainSite.port}/third`)
  plainSite = await startReceiver({ plain: true, ...plain })
  const FARTHING_RETURN_HOSTS = `localhost:${plainSite.port}`
  service = await startService('sqlite', { send, env: { FARTHING_RETURN_HOSTS } })
  api = await service.newAccount()
  otherSite = await startReceiver(leadingTo(() => returnUrl()))
  site = await startReceiver(leadingTo(third))
})

after(async () => {
  for (const each of [site, otherSite, plainSite]) await each?.close()
  await service?.stop()
})

const returnUrl = (path = '/paid/41?pitch=22') => `https://${SITE}:${site.port}${path}`
const third = () => `https://${OTHER_SITE}:${otherSite.port}/third?from=second`
const newPayment = (language: Language, fields = {}) =>
  paymentIn(api, language, { return_url: returnUrl(), ...fields })

const inWindow = visitInOneWindow(browser)

const heading = ({ page }: Visitor) => page.textContent('h1')

test('A shop that opens a payment page in a window of its own keeps its handle, and not that of the console', () =>
  inWindow(async ({ page }) => {
    await page.goto(`http://localhost:${plainSite.port}/shop`)
    const opens = async (address: string, keeps: boolean) => {
      const popup = page.waitForEvent('popup')
      await page.evaluate(`opened = window.open(${JSON.stringify(address)})`)
      const opened = await popup
      await opened.waitForURL(address)
      // A window learns a little later that it has lost its handle.
      await page.waitForFunction(`opened.closed === ${!keeps}`)
      assert.equal(await opened.evaluate('!!opener'), keeps)
      await opened.close()
    }
    await opens(pageOf(await newPayment('en')), true)
    await opens(`${service.baseUrl}/console/sign-in`, false)
  }))

// Two of the four combinations, because neither setting changes the effect of the other.
for (const [language, javaScriptEnabled] of [
  ['en', true],
  ['cy', false],
] as const) {
  const text = messages[language]
  const kind = `${language}, ${javaScriptEnabled ? 'with' : 'without'} script`
  const journey = visitInOneWindow(browser, { javaScriptEnabled })

  test(`A confirmed payment is a success and the browser is at return_url (${kind})`, () =>
    journey(async visitor => {
      const payment = await newPayment(language)
      const { page } = visitor
      await page.goto(pageOf(payment))
      assert.equal(await heading(visitor), text.details.heading)
      await choose(page, 'success')
      assert.equal(page.url(), `${pageOf(payment)}/confirm`)
      assert.equal(await heading(visitor), text.confirm.heading)
      await page.click('#confirm')
      await page.waitForURL(returnUrl())
      assert.equal(await heading(visitor), 'Back')
      assert.deepEqual(await statusesOf(api, payment), PAID)
      assert.deepEqual(visitor.complaints, [])
    }))
}

test('The policy of the pages lets the browser follow the redirect after Confirm to return_url and from there to a third site, over http if its host is in FARTHING_RETURN_HOSTS', () =>
  inWindow(async ({ page, complaints }) => {
    const { port } = plainSite
    for (const [return_url, end] of [
      [returnUrl('/onward'), third()],
      [`http://localhost:${port}/onward`, `http://127.0.0.1:${port}/third`],
    ] as const) {
      await page.goto(pageOf(await newPayment('en', { return_url })))
      await choose(page, 'success')
      await page.click('#confirm')
      await page.waitForURL(end)
    }
    assert.deepEqual(complaints, [])
  }))

test('A user can go back from the confirm page and choose again', () =>
  inWindow(async visitor => {
    const { page } = visitor
    const payment = await newPayment('en')
    await page.goto(pageOf(payment))
    await choose(page, 'success')
    await page.goBack()
    assert.equal(await heading(visitor), messages.en.details.heading)
    await choose(page, 'declined')
    assert.equal(await heading(visitor), messages.en.declined.heading)
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
  }))

test('Going back after Confirm requests the page again, which redirects to return_url', () =>
  inWindow(async ({ page, requests }) => {
    const payment = await newPayment('en')
    await page.goto(pageOf(payment))
    await choose(page, 'success')
    await page.click('#confirm')
    await page.waitForURL(returnUrl())
    const before = requests.length
    await page.goBack()
    assert.equal(page.url(), returnUrl())
    const asked = [`GET ${pageOf(payment)}/confirm`, `GET ${returnUrl()}`]
    assert.deepEqual(requests.slice(before, before + 2), asked)
    assert.deepEqual(await statusesOf(api, payment), PAID)
  }))

test('A page that the browser restores from its back-forward cache reloads itself', () =>
  inWindow(async ({ page }) => {
    const payment = await newPayment('en')
    await page.goto(pageOf(payment))
    await choose(page, 'success')
    await api.postForm(`${pageOf(payment)}/confirm`, {})
    // Under a test the browser keeps no page, so the test fires the event of a restored page itself.
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
    await page.waitForURL(returnUrl())
  }))

for (const javaScriptEnabled of [true, false])
  test(`A second press of Confirm has no effect (${javaScriptEnabled ? 'with script, which sends one POST' : 'without script, two POSTs'})`, () =>
    visit(browser(), { javaScriptEnabled }, async ({ page, requests }) => {
      const impatient = await service.newAccount()
      await impatient.post('/v1/webhooks', { callback_url: 'https://slow.example.org/' })
      const payment = await paymentIn(impatient, 'en', { return_url: returnUrl() })
      const confirm = `POST ${pageOf(payment)}/confirm`
      // The script ignores a second press within a second, so the clock of the page stands still.
      await page.clock.install()
      await page.goto(pageOf(payment))
      await choose(page, 'success')
      await page.clock.pauseAt(Date.now() + 60_000)
      const { promise: delivery, resolve: deliver } = Promise.withResolvers<void>()
      deliveries = delivery
      const { x, y } = (await page.locator('#confirm').boundingBox())!
      const pressConfirm = () => page.mouse.click(x + 5, y + 5)
      // waitForURL would fail, because the second press aborts the request of the first.
      const paid = page.waitForEvent('load')
      await Promise.all([page.waitForRequest(/confirm$/), pressConfirm()])
      await pressConfirm()
      deliver()
      await paid
      assert.equal(page.url(), returnUrl())
      const confirms = requests.filter(request => request === confirm)
      assert.equal(confirms.length, javaScriptEnabled ? 1 : 2)
      assert.deepEqual(await statusesOf(impatient, payment), PAID)
    }))
