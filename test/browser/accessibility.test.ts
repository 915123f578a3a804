import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import {
  atRest,
  boxOf,
  focusOf,
  look,
  shareBrowser,
  styleOf,
  type Visitor,
  visitInOneWindow,
} from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { choose, type Language, pageStates, paymentIn, showState } from '../support/page-states.ts'
import { ownService } from '../support/service.ts'

const browser = shareBrowser()
let api: Client
ownService({}, async ({ newAccount }) => {
  api = await newAccount()
})

const inWindow = visitInOneWindow(browser)
const withoutScript = visitInOneWindow(browser, { javaScriptEnabled: false })

const inState = (state: string, language: Language, use: (visitor: Visitor) => Promise<void>) =>
  inWindow(async visitor => {
    await showState(visitor.page, api, state, language)
    await use(visitor)
  })

const type = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key)
}

const onDetails = (use: (visitor: Visitor) => Promise<void>) => inState('details', 'en', use)

// The pages of an ended payment differ in their text alone, so `technical` stands for all of them.
for (const state of ['details', 'details-error', 'confirm', 'technical', 'not-found'])
  test(`axe finds nothing against WCAG 2.2 AA or best practice: ${state}`, () =>
    inState(state, 'en', async ({ page }) => assert.deepEqual(await axe(page), [])))

// The page `details-error` has every component of the pages.
test('axe finds nothing on a page in Welsh on a screen that is 320 px wide', () =>
  inState('details-error', 'cy', async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 568 })
    assert.deepEqual(await axe(page), [])
  }))

test('axe finds nothing if the script did not load', () =>
  inWindow(async ({ page }) => {
    await page.route('**/assets/*.js', route => route.abort())
    await showState(page, api, 'details-error', 'en')
    assert.deepEqual(await axe(page), [])
  }))

test('The error summary has the focus when the page has loaded, and its link leads to the first choice', () =>
  inState('details-error', 'en', async ({ page }) => {
    await page.waitForSelector('.govuk-error-summary:focus')
    await type(page, 'Tab', 'Enter')
    assert.equal(await focusOf(page), 'scenario')
    await type(page, 'Space', 'Enter')
    await page.waitForURL(/\/confirm$/)
  }))

test('The link of the error summary leads to the first choice without script too', () =>
  withoutScript(async ({ page }) => {
    await showState(page, api, 'details-error', 'en')
    await page.getByRole('link', { name: 'Select how this payment should end' }).click()
    await page.waitForSelector('#scenario:focus', { state: 'attached' })
  }))

test('The first Tab shows the skip link, which leads to the main part', () =>
  onDetails(async ({ page }) => {
    const height = async () => (await boxOf(page, '.govuk-skip-link')).height
    assert.ok((await height()) <= 1)
    await page.keyboard.press('Tab')
    assert.ok((await height()) > 20)
    await page.keyboard.press('Enter')
    assert.equal(await focusOf(page), 'main-content')
  }))

test('The keyboard alone is enough for a journey, and Tab follows the order of the page', () =>
  onDetails(async ({ page }) => {
    const stops: (string | undefined)[] = []
    for (let stop = 0; stop < 4; stop++) {
      await page.keyboard.press('Tab')
      stops.push(await focusOf(page))
    }
    assert.deepEqual(stops, ['A', 'scenario', 'submit-card-details', 'cancel-payment'])
    await type(page, 'Shift+Tab', 'Shift+Tab')
    assert.equal(await page.isChecked('#scenario'), false)
    await type(page, 'Space')
    assert.equal(await page.isChecked('#scenario'), true)
    await type(page, 'ArrowDown')
    assert.equal(await page.isChecked('#scenario-2'), true)
    await type(page, 'ArrowUp', 'Tab', 'Enter')
    await page.waitForURL(/\/confirm$/)
    await type(page, 'Tab', 'Tab')
    assert.equal(await focusOf(page), 'confirm')
    await type(page, 'Tab')
    assert.equal(await focusOf(page), 'cancel-payment')
    await type(page, 'Enter')
    await page.getByRole('heading', { name: 'Your payment has been cancelled' }).waitFor()
  }))

test('The space bar activates the link of an end page, as it does a button', () =>
  inWindow(async ({ page }) => {
    const { _links } = await paymentIn(api, 'en', { return_url: 'https://receiver.test:1/back' })
    await page.route('https://receiver.test:1/**', route => route.fulfill({ body: 'Back' }))
    await page.goto(_links.next_url.href)
    await choose(page, 'declined')
    await page.focus('#return-url')
    await page.keyboard.press('Space')
    await page.waitForURL('https://receiver.test:1/back')
  }))

test('The element that has the focus is highlighted', () =>
  onDetails(async ({ page }) => {
    const yellow = 'rgb(255, 221, 0)'
    await type(page, 'Tab')
    assert.equal(await styleOf(page, '.govuk-skip-link', 'background-color'), yellow)
    await type(page, 'Tab')
    const ring = await styleOf(page, 'label[for=scenario]', 'box-shadow', '::before')
    assert.equal(ring, `${yellow} 0px 0px 0px 4px`)
    await type(page, 'Tab')
    assert.equal(await styleOf(page, '#submit-card-details', 'background-color'), yellow)
  }))

/** Evaluates the expression in the page once for each of these text sizes, in percent. */
const atTextSizes = <T>(page: Page, sizes: number[], expression: string): Promise<T[]> =>
  look<T[]>(
    page,
    `${JSON.stringify(sizes)}.map(size => {
      document.documentElement.style.fontSize = size + '%'
      return ${expression}
    })`,
  )

const word = 'Wythnosau'.repeat(28)
const long = {
  description: word,
  reference: 'x'.repeat(255),
  email: word,
  prefilled_cardholder_details: {
    cardholder_name: word,
    billing_address: { line1: word, city: word },
  },
}
// The narrowest screen of each layout, in px. 320 px is a screen of 1280 px at a zoom of 400%. 769 px has two columns.
const widths = [320, 641, 769]
for (const language of ['en', 'cy'] as const)
  test(`No page needs sideways scrolling from 320 px up, with very long words and with text twice as large (${language})`, () =>
    inWindow(async ({ page }) => {
      for (const state of ['details', 'details-error', 'confirm', 'technical', 'not-found']) {
        if (state === 'details' || state === 'technical') {
          const payment = await paymentIn(api, language, { ...long, amount: 10_000_000 })
          await page.goto(payment._links.next_url.href)
        }
        await pageStates[state]?.(page)
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 })
          const [usual, large] = await atTextSizes<{ text: number; hidden: number }>(
            page,
            [100, 200],
            `({
              text: Number.parseFloat(getComputedStyle(document.querySelector('h1')).fontSize),
              hidden: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            })`,
          )
          const expected = { text: 2 * (usual?.text ?? 0), hidden: 0 }
          assert.deepEqual([usual?.hidden, large], [0, expected], `${state}, ${width} px`)
        }
      }
    }))

test('The largest amount fits on one line of its box at every text size', () =>
  inWindow(async ({ page }) => {
    const payment = await paymentIn(api, 'en', { amount: 10_000_000 })
    await page.goto(payment._links.next_url.href)
    for (const width of [320, 640, 641, 768, 769, 1019, 1020, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const found = await atTextSizes<number[]>(
        page,
        [100, 125, 150, 200],
        `(() => {
          const amount = document.querySelector('#amount')
          const place = amount.closest('dd')
          return [amount.getClientRects().length, place.scrollWidth - place.clientWidth]
        })()`,
      )
      assert.deepEqual(found, Array(4).fill([1, 0]), `lines and excess at ${width} px`)
    }
  }))

test('The summary is beside the form on a wide screen and before it on a narrow one', () =>
  onDetails(async ({ page }) => {
    const boxes = () =>
      Promise.all(['.farthing-panel', 'form', 'h1'].map(selector => boxOf(page, selector)))
    const [panel, form, heading] = await boxes()
    assert.ok(panel!.x > form!.x + form!.width && panel!.y <= heading!.y)
    await page.setViewportSize({ width: 390, height: 800 })
    const [narrow, below, above] = await boxes()
    assert.ok(narrow!.y > above!.y && below!.y > narrow!.y + narrow!.height)
  }))

test('Buttons, choices, the summary and the error summary have a border in forced colours', () =>
  inState('details-error', 'en', async ({ page }) => {
    await page.emulateMedia({ forcedColors: 'active' })
    const parts = ['#submit-card-details', '#cancel-payment', 'label[for=scenario]::before']
    for (const edged of [...parts, '.govuk-error-summary', '.farthing-panel']) {
      const [selector = '', part] = edged.split(/(?=::)/)
      assert.equal(await styleOf(page, selector, 'border-top-style', part), 'solid', edged)
      assert.notEqual(await styleOf(page, selector, 'border-top-width', part), '0px', edged)
    }
  }))

for (const state of ['details', 'confirm'])
  test(`Print fits on one sheet of A4, and has a header that can be read without backgrounds, the payment and the card, and no buttons: ${state}`, () =>
    inState(state, 'en', async ({ page }) => {
      await page.emulateMedia({ media: 'print' })
      await atRest(page)
      assert.equal(await styleOf(page, '.farthing-header', 'background-color'), 'rgba(0, 0, 0, 0)')
      assert.notEqual(await styleOf(page, '.farthing-header__name', 'color'), 'rgb(255, 255, 255)')
      assert.equal(await styleOf(page, '.govuk-tag', 'border-top-style'), 'solid')
      const shown = [
        '#payment-description',
        '#amount',
        ...(state === 'confirm' ? ['#card-number'] : []),
      ]
      for (const selector of shown) assert.equal(await page.isVisible(selector), true, selector)
      for (const selector of ['button', '.govuk-skip-link'])
        assert.equal(await page.locator(selector).filter({ visible: true }).count(), 0, selector)
      const pdf = await page.pdf({ format: 'A4' })
      assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1)
    }))
