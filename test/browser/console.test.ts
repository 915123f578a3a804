import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { pages } from '../../src/tools/console/pages.ts'
import { axe } from '../support/axe.ts'
import {
  focusOf,
  hiddenWidth,
  look,
  shareBrowser,
  styleOf,
  type Visitor,
  visitInOneWindow,
} from '../support/browser.ts'
import type { Body, Client } from '../support/client.ts'
import { signIn } from '../support/console.ts'
import { addressesOf, pageStates, press } from '../support/console-pages.ts'
import { fillAccount, type Shelf } from '../support/console-states.ts'
import { ask } from '../support/control.ts'
import { type Service, startService } from '../support/service.ts'
import { receiving } from '../support/subscriber.ts'

const browser = shareBrowser()
let service: Service
let api: Client
let shelf: Shelf
let cookie = ''
/** Of an account that has nothing. */
let emptyCookie = ''
let open: Body
let agreement: Body
let ended = ''
let addressOf: (path: string) => string

before(async () => {
  service = await startService('sqlite', { ...receiving, control: true })
  api = await service.newAccount()
  shelf = await fillAccount(service, api)
  agreement = (await api.post('/v1/agreements', { reference: 'CLUB-31', description: 'Club' })).body
  open = await api.createPayment({
    reference: 'R-open',
    set_up_agreement: agreement.agreement_id,
  })
  for (const _ of [1, 2]) ended = (await ask(service, api, 'accounts', {})).body.account
  await ask(service, api, `accounts/${ended}`, undefined, 'DELETE')
  addressOf = await addressesOf(service, api, { shelf, agreement })
  cookie = (await signIn(service, api)).cookie ?? ''
  emptyCookie = (await signIn(service, await service.newAccount())).cookie ?? ''
})

after(async () => {
  await shelf?.close()
  await service?.stop()
})

const inWindow = visitInOneWindow(browser)

/** Signs in to the window. */
const signedIn = (use: (visitor: Visitor) => Promise<void>, session = cookie) =>
  inWindow(async visitor => {
    const [name = '', value = ''] = session.split('=')
    await visitor.context.addCookies([{ name, value, url: service.baseUrl }])
    await use(visitor)
    assert.deepEqual(visitor.complaints, [])
  })

const at = (page: Page, path: string) => page.goto(`${service.baseUrl}/console/${path}`)

const states = pageStates(at, () => ({ shelf, open, agreement, ended }))

const isFocused = async (locator: Locator) =>
  (await locator.and(locator.page().locator(':focus')).count()) === 1

/** Moves the clock of the page, which is installed, to its next look for something new. */
const nextLook = (page: Page) => page.clock.fastForward(2_000)

/** What axe finds, apart from the contrast of numbers of one digit and of signs, which it cannot tell from decoration. */
const findings = async (page: Page): Promise<string[]> =>
  (await axe(page)).filter(
    found => !/content is too short to determine|only non-text characters/.test(found),
  )

async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await findings(page), [], page.url())
  await page.setViewportSize({ width: 320, height: 640 })
  assert.equal(await hiddenWidth(page), 0, page.url())
}

describe('The console', () => {
  for (const { path } of pages)
    test(`axe finds nothing, and on a screen of 320 px only tables scroll: /console/${path}`, () =>
      signedIn(async ({ page }) => {
        await at(page, addressOf(path))
        assert.doesNotMatch(await page.title(), /^Page not found/)
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
      for (const { path } of pages.filter(({ path }) => !path.includes('{'))) {
        await at(page, path)
        await assertAccessible(page)
        await page.setViewportSize({ width: 1280, height: 640 })
      }
    }, emptyCookie)
    await inWindow(async ({ page }) => {
      await at(page, 'sign-in')
      assert.deepEqual(await findings(page), [])
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
        stops.push(
          await look<string>(
            page,
            '(({ id, tagName, textContent, className }) => id || (className === "farthing-scroll" ? "scroll" : tagName + " " + textContent.trim()))(document.activeElement)',
          ),
        )
        const shown = await look<boolean>(
          page,
          `(() => {
          const { outlineStyle, boxShadow, backgroundColor } = getComputedStyle(document.activeElement)
          return outlineStyle !== 'none' || boxShadow !== 'none' || backgroundColor === 'rgb(255, 221, 0)'
        })()`,
        )
        assert.ok(shown, stops.at(-1) ?? '')
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

  test('on a phone the navigation folds into a menu', () =>
    signedIn(async ({ page }) => {
      await page.setViewportSize({ width: 390, height: 700 })
      await at(page, 'payments')
      const requests = page.getByRole('link', { name: 'Requests' })
      await requests.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Menu' }).click()
      await requests.waitFor({ state: 'visible' })
    }))

  test('a form of another origin does nothing, and a link from there finds nobody signed in', () =>
    signedIn(async ({ page }) => {
      const { payment_id } = await api.createPayment()
      const target = `${service.baseUrl}/console/payments/${payment_id}/complete`
      await page.route('http://receiver.test:1/', route =>
        route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" action="${target}"><input name="scenario" value="success"><button>x</button></form>`,
        }),
      )
      await page.goto('http://receiver.test:1/')
      await press(page, 'button')
      const { state } = (await api.get(`/v1/payments/${payment_id}`)).body
      assert.equal(state.status, 'created')
    }))

  test('the banner of an action takes the focus, and so do the errors of a form', () =>
    signedIn(async ({ page }) => {
      const { payment_id } = await api.createPayment()
      await at(page, `payments/${payment_id}`)
      await press(page, '#choose-success')
      await page.waitForSelector('.govuk-notification-banner:focus')
      await page.fill('#amount', '0')
      await press(page, '#refund')
      await page.waitForSelector('.govuk-error-summary:focus')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      assert.equal(await focusOf(page), 'amount')
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

  test('nothing changes by itself but the notice of what is newer, until Follow is ticked', () =>
    signedIn(async ({ page }) => {
      await page.clock.install()
      await at(page, 'payments')
      const rows = () => page.locator('tbody tr').count()
      const before = await rows()
      await api.createPayment({ reference: 'R-newer' })
      await nextLook(page)
      const status = page.locator('.farthing-live [role=status]')
      await status.getByText('1 newer.').waitFor()
      assert.equal(await rows(), before)
      // Later numbers are shown and not read out.
      assert.equal(await status.getAttribute('aria-live'), 'off')
      const show = status.getByRole('link', { name: 'Show' })
      await Promise.all([page.waitForEvent('load'), show.click()])
      assert.equal(await rows(), before + 1)
      await page.getByRole('checkbox', { name: 'Follow' }).check()
      await api.createPayment({ reference: 'R-followed' })
      await nextLook(page)
      await page.getByRole('link', { name: 'R-followed' }).waitFor()
      const follow = page.getByRole('checkbox', { name: 'Follow' })
      assert.equal(await follow.isChecked(), true, 'it stays ticked')
      assert.equal(await isFocused(follow), true, 'it keeps the focus')
      const [first] = await page.locator('nav[aria-label=Menu] a').all()
      await first?.focus()
      await api.createPayment({ reference: 'R-beside' })
      await nextLook(page)
      await status.getByText('1 newer.').waitFor()
      assert.ok(first && (await isFocused(first)), 'a link that has the focus stays')
      await follow.focus()
      await nextLook(page)
      await page.getByRole('link', { name: 'R-beside' }).waitFor()
      await page.getByRole('link', { name: 'R-followed' }).focus()
      await api.createPayment({ reference: 'R-read' })
      await nextLook(page)
      await status.getByText('1 newer.').waitFor()
      assert.equal(await page.getByRole('link', { name: 'R-read' }).count(), 0, 'somebody reads')
    }))

  test('the ages of what a page shows grow while it is open, on the clock of the account', () =>
    signedIn(async ({ page }) => {
      await page.clock.install()
      const { payment_id } = await api.createPayment({ reference: 'R-age' })
      service.clock.advance(5_000)
      await at(page, `payments/${payment_id}`)
      const present = page.locator('[aria-current=step] time')
      const age = async () =>
        /\((\d+)\s(second|minute)s?\sago\)$/.exec((await present.textContent()) ?? '')
      const [, seconds, unit] = (await age()) ?? []
      assert.ok(Number(seconds) >= 5 && unit === 'second', `${await present.textContent()}`)
      await page.clock.fastForward(120_000)
      await page
        .getByText(/\(2\sminutes\sago\)/)
        .first()
        .waitFor()
      const created = page.locator('.farthing-timeline time').first()
      assert.match((await created.getAttribute('title')) ?? '', /^2 minutes ago$/)
    }))

  test('a page says that what it shows has changed, and when the session ends or another account signs in', () =>
    signedIn(async ({ page, context }) => {
      await page.clock.install()
      const { payment_id } = await api.createPayment({ reference: 'R-live' })
      await at(page, 'payments?status=created')
      await page.getByRole('checkbox', { name: 'Follow' }).check()
      const payment = await context.newPage()
      await at(payment, `payments/${payment_id}`)
      await press(payment, '#choose-error')
      await payment.close()
      await nextLook(page)
      await page
        .getByRole('link', { name: 'R-live' })
        .waitFor({ state: 'detached', timeout: 4_000 })
      await at(page, `payments/${payment_id}`)
      const status = page.locator('.farthing-live [role=status]')
      await api.get(`/v1/payments/${payment_id}`)
      await nextLook(page)
      await status.getByText(/^Changed \d+ s ago/).waitFor()
      await status.getByRole('link', { name: 'Show' }).click()
      await page.getByText('GET /v1/payments').first().waitFor()
      const [name = '', value = ''] = emptyCookie.split('=')
      await context.addCookies([{ name, value, url: service.baseUrl }])
      await nextLook(page)
      await status.getByText('You are now in another account.').waitFor()
      await at(page, 'payments')
      await context.clearCookies()
      await nextLook(page)
      await status.getByText('You are signed out.').waitFor()
      await status.getByRole('link', { name: 'Sign in' }).click()
      await page.waitForURL(/sign-in\?to=payments$/)
    }))
})
