import assert from 'node:assert/strict'
import { test } from 'node:test'
import { look, shareBrowser, visit, visitInOneWindow } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { ask } from '../support/control.ts'
import { showState } from '../support/page-states.ts'
import { type Answer, startReceiver } from '../support/receiver.ts'
import { ownService } from '../support/service.ts'

const browser = shareBrowser()
let api: Client
const service = ownService({}, async ({ newAccount }) => {
  api = await newAccount()
})

const inWindow = visitInOneWindow(browser)

/** The number of entries that the page has in each kind of storage. */
const STORED = `Promise.all([
  localStorage.length,
  sessionStorage.length,
  caches.keys().then(keys => keys.length),
  indexedDB.databases().then(databases => databases.length),
  navigator.serviceWorker.getRegistrations().then(workers => workers.length),
])`

test('No page requests anything from other origins, stores anything or logs an error', () =>
  inWindow(async ({ page, context, requests, complaints }) => {
    for (const state of ['details-error', 'confirm', 'declined', 'not-found']) {
      requests.length = 0
      await showState(page, api, state, 'en')
      assert.ok(requests.length > 0)
      for (const request of requests)
        assert.ok(request.split(' ')[1]?.startsWith(`${service().baseUrl}/`), `${state} ${request}`)
      assert.deepEqual(await context.cookies(), [], state)
      assert.deepEqual(await look<number[]>(page, STORED), [0, 0, 0, 0, 0], state)
      assert.deepEqual(complaints, [], state)
    }
  }))

// Chromium sends Sec-Fetch-Site to localhost and to https addresses only.
const at = (url: string, name: string) => url.replace(/\/\/[^:/]+/, `//${name}.receiver.test`)

test('a page of another site signs no browser in, and a link of farthing open does', t =>
  visit(browser(), {}, async ({ page, context }) => {
    const home = at(service().baseUrl, 'farthing')
    const { body } = await ask(service(), api, 'enter', {})
    const code = new URL(body.url).searchParams.get('code') ?? ''
    // console/access.test.ts tests that the form to sign in with a key is refused alike.
    const enter = `<form method="post" action="${home}/console/enter"><input name="code" value="${code}"></form><script>document.forms[0].submit()</script>`
    const framed = (form: string) =>
      `<iframe sandbox="allow-scripts allow-forms allow-top-navigation" srcdoc='${form}'></iframe>`
    const secretive = '<meta name="referrer" content="no-referrer">'
    const atTheTop = enter.replace('method', 'target="_top" method')
    const attacks = [enter, secretive + enter, framed(enter), framed(atTheTop)]
    const onRequest = ({ request, response }: Answer) =>
      response.setHeader('Content-Type', 'text/html').end(attacks[Number(request.path.slice(1))])
    const site = await startReceiver({ plain: true, onRequest })
    t.after(site.close)
    for (const [nth, attack] of attacks.entries()) {
      // Each attack has a tab that stays open: Chromium forgets a close or an address while it commits a page.
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
    const [cookie, ...others] = await context.cookies()
    assert.deepEqual([cookie?.name, others], ['farthing_console', []])
  }))
