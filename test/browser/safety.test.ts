import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { look, shareBrowser, styleOf, visit, visitInOneWindow } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { ask } from '../support/control.ts'
import { pageOf } from '../support/hosted-page.ts'
import { pageStates, paymentIn, showState } from '../support/page-states.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

const browser = shareBrowser()
let service: Service
let api: Client

before(async () => {
  service = await startService('sqlite')
  api = await service.newAccount()
})

after(() => service?.stop())

const inWindow = visitInOneWindow(browser)

/** The API refuses < and > in a description or a reference. */
const inDescription = [
  '" autofocus onfocus="hacked=1',
  "' onmouseover='hacked=1",
  '&lt;script&gt;hacked=1&lt;/script&gt; &amp; &quot;',
  'javascript:hacked=1',
  '{{constructor.constructor("hacked=1")()}} %=hacked=1%',
].join(' ')
const inReference =
  '\u202Egnp.ecnegilid \u2066right to left\u2069 עברית العربية 👩🏽‍💻 £ 日本語 ŵŷ é \u0301 ﷽'
const inName = [
  '<script>hacked=1</script>',
  '</dd></dl><img src=x onerror=hacked=1>',
  '<svg/onload=hacked=1>',
  '</title><style>*{display:none}</style>',
  '<a href=https://evil.example>Select me</a>',
  '<!--',
].join(' ')

/** What the page shows, and its tags and ids, which no text may change. */
type Look = { shown: string[]; skeleton: string; hacked: boolean }

const lookAt = (page: Page): Promise<Look> =>
  look<Look>(
    page,
    `({
    shown: ['payment-description', 'payment-reference', 'cardholder-name', 'email']
      .map(id => document.getElementById(id).textContent),
    skeleton: [...document.querySelectorAll('*')].map(({ tagName, id }) => tagName + '#' + id).join(' '),
    hacked: 'hacked' in window,
  })`,
  )

describe('Text from clients', () => {
  test('Hostile text from a client runs no script and adds no element to any page, and metadata is on none', () =>
    inWindow(async ({ page, requests, complaints }) => {
      const skeletons = new Map<string, string>()
      for (const [description, reference, name] of [
        ['harmless', 'harmless', 'harmless'],
        [inDescription, inReference, inName],
      ] as const) {
        const payment = await paymentIn(api, 'en', {
          description,
          reference,
          email: name,
          metadata: { secret: 'for the service alone' },
          prefilled_cardholder_details: {
            cardholder_name: name,
            billing_address: { line1: name, line2: name, city: name, postcode: name.slice(0, 25) },
          },
        })
        await page.goto(pageOf(payment))
        for (const way of ['details', 'details-error', 'confirm']) {
          await pageStates[way]?.(page)
          const { shown, skeleton, hacked } = await lookAt(page)
          assert.deepEqual(shown, [description, reference, name, name])
          const harmless = skeletons.get(way) ?? skeletons.set(way, skeleton).get(way)
          assert.equal(skeleton, harmless)
          assert.equal(hacked, false)
          assert.ok(!(await page.content()).includes('for the service alone'))
        }
      }
      for (const request of requests) assert.ok(request.includes(service.baseUrl), request)
      assert.deepEqual(complaints, [])
    }))

  test('Each value has a text direction of its own, so right-to-left text affects no other', () =>
    inWindow(async ({ page }) => {
      const payment = await paymentIn(api, 'en', { description: '\u202Eevil', reference: 'A-1' })
      await page.goto(pageOf(payment))
      for (const id of ['payment-description', 'payment-reference', 'amount', 'cardholder-name'])
        assert.equal(await styleOf(page, `#${id}`, 'unicode-bidi'), 'isolate', id)
    }))
})

describe('Pages in a browser', () => {
  test('No page requests anything from other origins, stores anything or logs an error', () =>
    inWindow(async ({ page, context, requests, complaints }) => {
      for (const state of ['details-error', 'confirm', 'declined', 'not-found']) {
        requests.length = 0
        await showState(page, api, state, 'en')
        assert.ok(requests.length > 0)
        for (const request of requests)
          assert.ok(request.split(' ')[1]?.startsWith(`${service.baseUrl}/`), `${state} ${request}`)
        assert.deepEqual(await context.cookies(), [], state)
        const kept = await look<number[]>(
          page,
          `Promise.all([
          localStorage.length,
          sessionStorage.length,
          caches.keys().then(keys => keys.length),
          indexedDB.databases().then(databases => databases.length),
          navigator.serviceWorker.getRegistrations().then(workers => workers.length),
        ])`,
        )
        assert.deepEqual(kept, [0, 0, 0, 0, 0], state)
        assert.deepEqual(complaints, [], state)
      }
    }))

  test('A journey fetches each asset once', () =>
    visit(browser(), {}, async ({ page }) => {
      const fetched: string[] = []
      const [app] = service.apps
      const note = ({ url = '' }) => url.startsWith('/assets/') && fetched.push(url)
      app?.server.server.on('request', note)
      await showState(page, api, 'confirm', 'en')
      app?.server.server.off('request', note)
      assert.ok(fetched.length >= 2)
      assert.equal(new Set(fetched).size, fetched.length)
    }))

  test('The page runs no injected script and loads no image from another origin', () =>
    inWindow(async ({ page, complaints }) => {
      await showState(page, api, 'details', 'en')
      const refused = await page.evaluate<string>(`(() => {
        try {
          const script = document.createElement('script')
          script.textContent = 'window.hacked = 1'
          document.body.append(script)
        } catch (error) {
          return String(error)
        }
      })()`)
      assert.match(refused, /TrustedScript/)
      await page.evaluate(`new Promise(failed => {
        const image = document.createElement('img')
        image.onerror = failed
        image.src = 'https://receiver.test/pixel.png'
        document.body.append(image)
      })`)
      assert.ok(
        complaints.some(text => text.includes('img-src')),
        `${complaints}`,
      )
      assert.equal(await page.evaluate("'hacked' in window"), false)
    }))

  test('Another site cannot show the page in a frame', () =>
    inWindow(async ({ page, requests }) => {
      const payment = await paymentIn(api, 'en')
      const frame = `<iframe src="${pageOf(payment)}"></iframe>`
      const site = await startReceiver({
        plain: true,
        onRequest: ({ response }) => response.setHeader('Content-Type', 'text/html').end(frame),
      })
      await page.goto(site.url)
      assert.ok(requests.includes(`GET ${pageOf(payment)}`))
      assert.deepEqual(
        page.frames().map(one => one.url()),
        [site.url, 'chrome-error://chromewebdata/'],
      )
      await site.close()
    }))
})

describe('The console over plain http', () => {
  // Chromium sends Sec-Fetch-Site to localhost and to https addresses only.
  const at = (url: string, name: string) => url.replace(/\/\/[^:/]+/, `//${name}.receiver.test`)

  test('a page of another site signs no browser in, and a link of farthing open does', t =>
    visit(browser(), {}, async ({ page, context }) => {
      const home = at(service.baseUrl, 'farthing')
      const { body } = await ask(service, api, 'enter', {})
      const code = new URL(body.url).searchParams.get('code') ?? ''
      const form = (path: string, name: string, value: string) =>
        `<form method="post" action="${home}/console/${path}"><input name="${name}" value="${value}"></form><script>document.forms[0].submit()</script>`
      const enter = form('enter', 'code', code)
      const framed = (form: string) =>
        `<iframe sandbox="allow-scripts allow-forms allow-top-navigation" srcdoc='${form}'></iframe>`
      const secretive = '<meta name="referrer" content="no-referrer">'
      const signIn = form('sign-in', 'key', api.key ?? '')
      const attacks = [enter, signIn].flatMap(attack => [
        attack,
        secretive + attack,
        framed(attack),
        framed(attack.replace('method', 'target="_top" method')),
      ])
      const site = await startReceiver({
        plain: true,
        onRequest: ({ request, response }) =>
          response
            .setHeader('Content-Type', 'text/html')
            .end(attacks[Number(request.path.slice(1))]),
      })
      t.after(site.close)
      for (const [nth, attack] of attacks.entries()) {
        // A tab of its own, which stays open: Chromium forgets a close or an address that comes while it commits a page.
        const tab = await context.newPage()
        const answered = tab.waitForResponse(
          response => response.request().method() === 'POST' && response.url().startsWith(home),
        )
        await tab.goto(new URL(`/${nth}`, at(site.url, 'other')).href, { waitUntil: 'commit' })
        const answer = await answered
        assert.equal((await answer.request().allHeaders())['sec-fetch-site'], undefined)
        assert.equal(answer.status(), 403, attack)
        assert.deepEqual(await context.cookies(), [], attack)
      }
      await page.goto(at(body.url, 'farthing'))
      await page.click('#enter')
      await page.waitForURL(`${home}/console`)
      const cookies = await context.cookies()
      assert.deepEqual(
        cookies.map(({ name }) => name),
        ['farthing_console'],
      )
    }))
})
