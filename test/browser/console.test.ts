import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { pages } from '../../src/tools/console/pages.ts'
import { createAgreement, setUpPayment } from '../support/agreements.ts'
import { axe } from '../support/axe.ts'
import {
  focusOf,
  hiddenWidth,
  look,
  press,
  shareBrowser,
  styleOf,
  useAs,
  type Visitor,
  visitInOneWindow,
} from '../support/browser.ts'
import type { Body, Client } from '../support/client.ts'
import { signIn } from '../support/console.ts'
import { addressesOf } from '../support/console-pages.ts'
import { fillAccount, type Shelf } from '../support/console-states.ts'
import { ask } from '../support/control.ts'
import { ownService } from '../support/service.ts'
import { receiving } from '../support/subscriber.ts'

const browser = shareBrowser()
let api: Client
let shelf: Shelf
let cookie = ''
/** The session of an account that has nothing. */
let emptyCookie = ''
let open: Body
let agreement: Body
let ended = ''
let addressOf: (path: string) => string

const service = ownService({ ...receiving, control: true }, async started => {
  api = await started.newAccount()
  shelf = await fillAccount(started, api)
  agreement = await createAgreement(api)
  open = await setUpPayment(api, agreement, { reference: 'R-open' })
  for (const _ of [1, 2]) ended = (await ask(started, api, 'accounts', {})).body.account
  await ask(started, api, `accounts/${ended}`, undefined, 'DELETE')
  addressOf = await addressesOf(started, api, { shelf, agreement })
  cookie = (await signIn(started, api)).cookie ?? ''
  emptyCookie = (await signIn(started, await started.newAccount())).cookie ?? ''
})

after(() => shelf?.close())

const inWindow = visitInOneWindow(browser)

const signedIn = (use: (visitor: Visitor) => Promise<void>, session = cookie) =>
  inWindow(visitor => useAs(service().baseUrl, session, visitor, use))

const at = (page: Page, path: string) => page.goto(`${service().baseUrl}/console/${path}`)

const openDetails = (page: Page): Promise<void> =>
  page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

/** Pages with parts that the pages of `addressOf` do not have. */
const states: Record<string, (page: Page) => Promise<unknown>> = {
  'payments without a match': page => at(page, 'payments?q=nothing'),
  'payments from a day that cannot be read': page => at(page, 'payments?from=tomorrow'),
  'a payment that is open': page => at(page, `payments/${open.payment_id}`),
  'a refund that is too high, with all details open': async page => {
    await at(page, `payments/${shelf.paid.payment_id}`)
    await page.fill('#amount', '99999999')
    await press(page, '#refund')
    await openDetails(page)
  },
  'a new payment that is refused, with all details open': async page => {
    await at(page, 'payments/new')
    await page.click('#prefilled summary')
    await page.fill('#country', 'GB')
    await page.fill('#amount', '')
    await press(page, '#create')
    await page.waitForSelector('#amount-error')
  },
  'a test account that has ended': page => at(page, `a/${ended}`),
  'a message that cannot be sent': page =>
    at(page, `messages/${shelf.unsendable.webhook_message_id}`),
  'a message whose receiver was asked': async page => {
    await at(page, `messages/${shelf.failed[0]?.webhook_message_id}`)
    await press(page, '#ask-receiver')
    await page.click('#copies summary')
  },
  'a damaged message that its receiver accepted': async page => {
    await at(page, `messages/${shelf.delivered[0]?.webhook_message_id}`)
    await page.click('#damage-it summary')
    await press(page, '#send-damaged')
    assert.equal(await page.textContent('#answer-to-wrong'), 'accepted, signature wrong')
  },
  'a webhook whose receiver was probed': async page => {
    await at(page, `webhooks/${shelf.ledger.external_id}`)
    await press(page, '#probe')
  },
  'an unknown page': page => at(page, 'nothing'),
}

/** Leaves out the contrast of numbers of one digit and of signs, which axe cannot tell from decoration. */
const findings = async (page: Page): Promise<string[]> =>
  (await axe(page)).filter(
    found => !/content is too short to determine|only non-text characters/.test(found),
  )

/** The most pixels that are cut off at the right of these elements. */
const cutIn = (page: Page, selector: string) =>
  look<number>(
    page,
    `Math.max(...[...document.querySelectorAll('${selector}')].map(each => each.scrollWidth - each.clientWidth))`,
  )

async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await findings(page), [], page.url())
  assert.ok((await cutIn(page, '.govuk-tag')) <= 0, 'a tag is wider than its background')
  await page.setViewportSize({ width: 320, height: 640 })
  assert.equal(await hiddenWidth(page), 0, page.url())
  assert.ok((await cutIn(page, '.govuk-tag')) <= 0, 'a tag is wider than its background')
}

describe('The console', () => {
  for (const { path } of pages)
    test(`axe finds nothing with all details open, and on a screen of 320 px only tables scroll: /console/${path}`, () =>
      signedIn(async ({ page }) => {
        await at(page, addressOf(path))
        assert.doesNotMatch(await page.title(), /^Page not found/)
        await openDetails(page)
        await assertAccessible(page)
      }))

  for (const [name, show] of Object.entries(states))
    test(`axe finds nothing, and on a screen of 320 px only tables scroll: ${name}`, () =>
      signedIn(async ({ page }) => {
        await show(page)
        assert.equal(/^Page not found/.test(await page.title()), name === 'an unknown page')
        await assertAccessible(page)
      }))

  test('axe finds nothing on the pages of an account that has nothing, and where one signs in', async () => {
    await signedIn(async ({ page }) => {
      // Forms and the records of disputes are the same for every account.
      for (const { path } of pages.filter(({ path }) => !/\{|new$|^disputes$/.test(path))) {
        await at(page, path)
        await assertAccessible(page)
        await page.setViewportSize({ width: 1280, height: 640 })
      }
    }, emptyCookie)
    await inWindow(async ({ page }) => {
      await at(page, 'sign-in')
      await press(page, '#sign-in')
      assert.match(await page.title(), /^Error: Sign in - /)
      assert.deepEqual(await findings(page), [])
      await at(page, 'enter?code=x')
      assert.deepEqual(await findings(page), [])
    })
  })

  test('the keyboard reaches everything in the order of the page, its focus can be seen, and it is nowhere caught', () =>
    signedIn(async ({ page }) => {
      await at(page, 'payments')
      const stops: string[] = []
      while (stops.at(-2) !== 'scroll' && stops.length < 40) {
        await page.keyboard.press('Tab')
        const [stop, isShown] = await look<[string, boolean]>(
          page,
          `(({ id, tagName, textContent, className }) => {
            const { outlineStyle, boxShadow, backgroundColor } = getComputedStyle(document.activeElement)
            return [
              id || (className === 'farthing-scroll' ? 'scroll' : tagName + ' ' + textContent.trim()),
              outlineStyle !== 'none' || boxShadow !== 'none' || backgroundColor === 'rgb(255, 221, 0)',
            ]
          })(document.activeElement)`,
        )
        stops.push(stop)
        assert.ok(isShown, stop)
      }
      const links = await page.locator('nav[aria-label=Menu] a').allTextContents()
      assert.deepEqual(stops.slice(0, -1), [
        'A Skip to main content',
        ...links.map(text => `A ${text.trim()}`),
        `A ${await page.textContent('.farthing-account bdi')}`,
        'sign-out',
        'A Refresh',
        'INPUT ',
        'make-payment',
        'q',
        'status',
        'from',
        'to',
        'search',
        'A Today',
        'A Yesterday',
        'A Last 7 days',
        'scroll',
      ])
      assert.match(stops.at(-1) ?? '', /^A ./)
      await page.keyboard.press('Enter')
      await page.waitForURL(/payments\/[0-9a-v]{26}$/)
    }))

  test('the keyboard reaches the controls of a message once each, and leaves the page', () =>
    signedIn(async ({ page }) => {
      await at(page, `messages/${shelf.failed[0]?.webhook_message_id}`)
      const stops: string[] = []
      while (stops.at(-1) !== 'BODY' && stops.length < 80) {
        await page.keyboard.press('Tab')
        stops.push(await focusOf(page))
      }
      assert.equal(stops.at(-1), 'BODY')
      // An element without an id appears as its tag, in capitals.
      const ids = stops.filter(stop => stop !== stop.toUpperCase())
      assert.deepEqual(ids, [...new Set(ids)])
      assert.ok(ids.includes('send-again'), ids.join())
    }))

  test('on a phone the navigation folds into a menu', () =>
    signedIn(async ({ page }) => {
      await page.setViewportSize({ width: 390, height: 700 })
      await at(page, 'payments')
      const requests = page.getByRole('link', { name: 'Requests' })
      await requests.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Menu' }).click()
      await requests.waitFor({ state: 'visible' })
    }))

  test('on a phone each row of a list is a card, which begins with its subject and hides nothing at the right', () =>
    signedIn(async ({ page }) => {
      await page.setViewportSize({ width: 390, height: 800 })
      for (const [path, first] of [
        ['requests', 'Request'],
        ['payments', ''],
        ['deliveries', ''],
        [`webhooks/${shelf.archive.external_id}`, ''],
      ] as const) {
        await at(page, path)
        assert.equal(await cutIn(page, '.farthing-scroll:has(table)'), 0, path)
        const heads = await look<string[]>(
          page,
          `[...document.querySelectorAll('.farthing-scroll:has(.farthing-leads) tbody tr:not(.farthing-note)')].map(row => {
            const [first] = [...row.cells].filter(cell => cell.getClientRects().length > 0).sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
            return first.dataset.label ?? ''
          })`,
        )
        assert.ok(heads.length > 0 && heads.every(head => head === first), `${path}: ${heads}`)
      }
      await at(page, `messages/${shelf.failed[0]?.webhook_message_id}`)
      // A listing wraps, so it needs no focus to be scrolled.
      assert.equal(await cutIn(page, 'pre'), 0)
    }))

  test('in forced colours buttons, tags and banners keep an edge, and every status is a word', () =>
    signedIn(async ({ page }) => {
      await page.emulateMedia({ forcedColors: 'active' })
      await at(page, `payments/${shelf.paid.payment_id}`)
      await page.fill('#amount', '1')
      await press(page, '#refund')
      for (const selector of ['#refund', '#sign-out', '.govuk-notification-banner', '#amount'])
        assert.notEqual(await styleOf(page, selector, 'border-top-style'), 'none', selector)
      assert.equal(await page.locator('h1 .govuk-tag').textContent(), 'success')
      assert.equal(await page.locator('h1 .govuk-tag').isVisible(), true)
    }))
})
