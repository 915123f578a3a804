/** Tasks of people in the console, with the clicks and the fields that each may take. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { bringSession, shareBrowser, visitInOneWindow } from '../support/browser.ts'
import { deciding, hex, signatureIn } from '../support/checking-receivers.ts'
import { type Client, createClient } from '../support/client.ts'
import { signIn } from '../support/console.ts'
import { ask } from '../support/control.ts'
import { cancelledPayment } from '../support/journeys.ts'
import type { Received } from '../support/receiver.ts'
import { ownService } from '../support/service.ts'
import { receiving, subscribe } from '../support/subscriber.ts'

const browser = shareBrowser()
const service = ownService({ ...receiving, control: true })

const withoutScript = visitInOneWindow(browser, { javaScriptEnabled: false })
const withScript = visitInOneWindow(browser)

/** `click` loads another page, `press` does not. `choose` and `select` are counted with the click on their button. */
function personAt(page: Page) {
  const taken = { clicks: 0, fields: 0 }
  return {
    page,
    taken,
    async click(selector: string) {
      taken.clicks += 1
      await Promise.all([page.waitForEvent('load'), page.click(selector)])
    },
    async press(selector: string) {
      taken.clicks += 1
      await page.click(selector)
    },
    async fill(selector: string, value: string) {
      taken.fields += 1
      await page.fill(selector, value)
    },
    choose: (selector: string) => page.check(selector),
    select: (selector: string, value: string) => page.selectOption(selector, value),
    shows: async (pattern: RegExp, selector = 'main') =>
      assert.match(await page.innerText(selector), pattern),
  }
}

type Person = ReturnType<typeof personAt>

type Needs = {
  clicks: number
  fields?: number
  script?: true
  /** A path below /console, for a person who is signed in. Without it the task begins signed out, on the front page. */
  from?: string
  prepare?: (api: Client, t: TestContext) => Promise<unknown>
}

type Task = [name: string, needs: Needs, run: (person: Person, api: Client) => Promise<unknown>]

/** The signature that the receiver computes, the right signature, and the requests that the receiver got. */
let compute = (_: string) => ''
let right = compute
let received: readonly Received[] = []

/** Registers a webhook whose receiver adds a newline to its key, and causes a message that the receiver refuses. */
async function refusing(api: Client, t: TestContext): Promise<void> {
  const { requests, webhook } = await subscribe(t, api, {
    behaviour: deciding(request => signatureIn(request) === compute(request.body)),
  })
  compute = body => hex(body, `${webhook.signing_key}\n`)
  received = requests
  await cancelledPayment(api, { reference: 'R-refused' })
  right = body => hex(body, webhook.signing_key)
}
const paid = (api: Client) =>
  ask(service(), api, 'payments', { scenario: 'success', amount: 1450, reference: 'R-paid' })
const named = (reference: string) => (api: Client) => api.createPayment({ reference })

const tasks: Task[] = [
  [
    'from the front page to a payment that is paid',
    { clicks: 3, fields: 1 },
    async ({ click, fill, shows }, { key = '' }) => {
      await click('#make-payment')
      await fill('#key', key)
      await click('#sign-in')
      await click('#ready-paid')
      await shows(/Payment of £14\.50 success/, 'h1')
    },
  ],
  [
    'from home through the payment pages and back',
    { clicks: 5, from: '' },
    async ({ click, choose, shows }) => {
      await click('a:has-text("Make a payment")')
      await click('#create')
      await click('a:has-text("Open the payment page")')
      await choose('#scenario')
      await click('#submit-card-details')
      await click('#confirm')
      await shows(/You are back\s+The payment has ended: success/)
    },
  ],
  [
    'why a receiver refuses messages',
    { clicks: 2, from: 'payments', prepare: refusing },
    async ({ click, shows }) => {
      await click('a:has-text("1 failed")')
      await click('#ask-receiver')
      await shows(/the key with a newline at its end/, '#asked')
    },
  ],
  [
    'what is wrong with the value that a receiver computed',
    { clicks: 3, fields: 1, from: 'payments', prepare: refusing },
    async ({ click, fill, shows }) => {
      await click('a:has-text("1 failed")')
      await click('a:has-text("Compare signatures")')
      await fill('#computed', compute(received[0]?.body ?? ''))
      await click('#analyse')
      await shows(/newline/, '#result')
    },
  ],
  [
    'all failed messages once more, now that the receiver is mended',
    { clicks: 1, from: '', prepare: refusing },
    async ({ click, page, shows }) => {
      compute = right
      await click('button:has-text("Send all failed again")')
      await shows(/are being sent again/)
      while (!/1 of 1, 1 was accepted/.test(await page.innerText('#resent'))) await page.reload()
    },
  ],
  [
    'a payment by a part of its reference',
    { clicks: 2, fields: 1, from: 'payments', prepare: named('Market stall 7') },
    async ({ click, fill, shows }) => {
      await fill('#q', 'stall')
      await click('#search')
      await click('a:has-text("Market stall 7")')
      await shows(/Payment of/, 'h1')
    },
  ],
  [
    'the request that made a payment, as curl',
    { clicks: 2, from: 'payments', prepare: named('R-request') },
    async ({ click, shows }) => {
      await click('a:has-text("R-request")')
      await click('a:has-text("POST /v1/payments")')
      await shows(/curl .*"reference":"R-request"/s)
    },
  ],
  [
    'a summary for a colleague',
    { clicks: 2, script: true, from: 'payments', prepare: named('R-summary') },
    async ({ click, press, page }) => {
      await click('a:has-text("R-summary")')
      await press('button:has-text("Copy summary")')
      await page.getByText('Copied', { exact: false }).waitFor()
      const copied = await page.evaluate('navigator.clipboard.readText()')
      assert.match(String(copied), /^R-summary: £46\.50, created/)
    },
  ],
  [
    'a refund in pounds',
    { clicks: 2, fields: 1, from: 'payments', prepare: paid },
    async ({ click, fill, shows }) => {
      await click('a:has-text("R-paid")')
      await fill('#amount', '10')
      await click('#refund')
      await shows(/A refund of £10\.00 is made\./)
    },
  ],
  [
    'a cancellation by the API',
    { clicks: 2, from: 'payments', prepare: named('R-open') },
    async ({ click, shows }) => {
      await click('a:has-text("R-open")')
      await click('#cancel')
      await shows(/The payment was cancelled through the API \(P0040\)\./)
    },
  ],
  [
    'a payment that changes while its list follows',
    { clicks: 1, script: true, from: 'payments', prepare: named('R-follow') },
    async ({ press, page }, api) => {
      await press('.farthing-follow input')
      const { body } = await api.get('/v1/payments?reference=R-follow')
      await api.post(`/v1/payments/${body.results[0].payment_id}/cancel`)
      await page.locator('tbody .govuk-tag:has-text("cancelled")').waitFor()
    },
  ],
  [
    'refused requests as they come',
    { clicks: 2, script: true, from: 'requests', prepare: api => api.get('/v1/payments') },
    async ({ click, press, page }, api) => {
      await click('a:has-text("Only refused")')
      await press('.farthing-follow input')
      await api.get('/v1/payments/unknown')
      await page.getByText('404').first().waitFor()
      assert.equal(await page.getByText('GET /v1/payments', { exact: true }).count(), 0)
    },
  ],
  [
    'the payments of a test account, and back to the own account',
    {
      clicks: 4,
      from: 'payments',
      prepare: async api => {
        const { body } = await ask(service(), api, 'accounts', {})
        await createClient(service().baseUrls, body.key).createPayment({ reference: 'R-inner' })
      },
    },
    async ({ click, shows }) => {
      await click('.farthing-account a')
      await click('a:has-text("Look inside")')
      await click('nav[aria-label=Menu] a:has-text("Payments")')
      await shows(/R-inner/)
      await click('a:has-text("back to")')
      await shows(/Home/, 'h1')
    },
  ],
  [
    'a week later, the next payment declined, a situation of production, and a test account ended',
    { clicks: 7, from: '', prepare: api => ask(service(), api, 'accounts', { name: 'task' }) },
    async ({ click, press, select, shows }) => {
      await click('.farthing-account a')
      await click('#advance-3')
      await shows(/The clock is moved/)
      await select('#scenario', 'declined')
      await click('#plan')
      await shows(/It is planned.*Payment: declined/s)
      await press('summary:has-text("End it")')
      await click('#end-task')
      await shows(/The test account has ended/)
      await click('nav[aria-label=Menu] a:has-text("Check")')
      await click('#too-many-requests-429')
      await shows(/It is planned/)
    },
  ],
  [
    'an agreement that is set up, and a payment that is taken with it',
    { clicks: 7, fields: 2, from: '' },
    async ({ click, fill, shows }) => {
      await click('nav[aria-label=Menu] a:has-text("Agreements")')
      await click('#make-agreement')
      await fill('#reference', 'CLUB-1')
      await fill('#description', 'Rowing club')
      await click('#make-agreement')
      await click('#set-up')
      await shows(/The payment succeeded/)
      await click('dd a')
      await click('#charge')
      await shows(/Payment of £14\.50 success/, 'h1')
      await click('#sign-out')
      await shows(/Sign in/, 'h1')
    },
  ],
]

describe('Tasks in the console', () => {
  for (const [name, { clicks, fields = 0, script, from, prepare }, run] of tasks)
    test(`${name} (clicks: ${clicks}, fields: ${fields})`, t =>
      (script ? withScript : withoutScript)(async ({ page, context }) => {
        const api = await service().newAccount()
        await prepare?.(api, t)
        if (script) await context.grantPermissions(['clipboard-read', 'clipboard-write'])
        if (from === undefined) await page.goto(service().baseUrl)
        else {
          await bringSession(context, service().baseUrl, (await signIn(service(), api)).cookie)
          await page.goto(`${service().baseUrl}/console/${from}`)
        }
        const person = personAt(page)
        await run(person, api)
        assert.deepEqual(person.taken, { clicks, fields })
      }))
})
