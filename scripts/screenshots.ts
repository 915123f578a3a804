/**
 * Makes the pictures of the hosted pages and of the console in docs/images. `npm run screenshots` makes all, and `npm
 * run screenshots -- console` those whose names begin with `console`. The clock, the identifiers and the typeface are
 * the same on every machine, so a picture changes only if its page does.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { pages } from '../src/tools/console/pages.ts'
import { atRest, look, startBrowser, visit } from '../test/support/browser.ts'
import { type Body, type Client, createClient } from '../test/support/client.ts'
import { signIn } from '../test/support/console.ts'
import { addressesOf } from '../test/support/console-pages.ts'
import { fillAccount } from '../test/support/console-states.ts'
import { ask } from '../test/support/control.ts'
import { pageStates, showState } from '../test/support/page-states.ts'
import { type Service, startService } from '../test/support/service.ts'
import { receiving } from '../test/support/subscriber.ts'

/** `npm run screenshots` installs sharp and the typeface first, because nothing else needs their 22 MB. */
const require = createRequire(import.meta.url)
type Sharp = (picture: Buffer) => {
  png(options: Record<string, number>): { toFile(path: string): Promise<unknown> }
}
const sharp: Sharp = require('sharp')

const images = new URL('../docs/images/', import.meta.url)
const screens = {
  desktop: { width: 1100, height: 620 },
  phone: { width: 390, height: 620 },
}

/** Arimo has the metrics of Arial, which the pages use and few servers have. */
async function typeface(): Promise<string> {
  const faces = ['latin', 'latin-ext'].flatMap(script =>
    [400, 700].map(async weight => {
      const file = require.resolve(`@fontsource/arimo/files/arimo-${script}-${weight}-normal.woff2`)
      const source = (await readFile(file)).toString('base64')
      const range = script === 'latin' ? 'U+0000-00FF, U+2000-206F, U+20AC' : 'U+0100-024F'
      return `@font-face { font-family: arial; font-weight: ${weight}; unicode-range: ${range};
        src: url(data:font/woff2;base64,${source}) }`
    }),
  )
  return (await Promise.all(faces)).join('\n')
}

/** Pixels from the top of a page of the console. More of the page makes the files large and explains no more. */
const MOST_OF_CONSOLE = 1_700

async function take(page: Page, styles: string, name: string, most = Infinity): Promise<void> {
  await page.addStyleTag({ content: styles })
  await atRest(page)
  const { width, height } = await look<{ width: number; height: number }>(
    page,
    '({ width: innerWidth, height: document.documentElement.scrollHeight })',
  )
  const clip = { x: 0, y: 0, width, height: Math.min(height, most) }
  // 32 colours are enough for these pages and halve the files.
  await sharp(await page.screenshot({ fullPage: true, clip }))
    .png({ colours: 32, dither: 0, effort: 10, compressionLevel: 9 })
    .toFile(fileURLToPath(new URL(`${name}.png`, images)))
}

const [wanted = ''] = process.argv.slice(2)

/** Replaces texts on the console's pages that differ in each run: durations, ports, and the receiver's clock. */
const STEADY = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { data } = walker.currentNode
    walker.currentNode.data = data
      .replace(/\\b[\\d.,]+ ms\\b/g, '12 ms')
      .replace(/localhost:\\d+/g, 'localhost:4000')
      .replace(/127\\.0\\.0\\.1:\\d+/g, '127.0.0.1:3000')
      .replace(/\\w+, \\d+ \\w+ \\d{4} [\\d:]+ GMT/g, 'Mon, 14 Sep 2026 08:20:32 GMT')
  }
})()`

/** The picture of a page, by its path: `payment` of one payment, `payments-new` of the form. */
const pictureOf = (path: string): string =>
  path === '' ? 'home' : path.replace(/s?\/\{\w+\}$/, '').replaceAll('/', '-')

/** An agreement that is active and one that is new, and two test accounts with a payment. */
async function addOthers(service: Service, api: Client): Promise<Body> {
  let made: Body = {}
  for (const reference of ['CLUB-31', 'CLUB-32']) {
    const agreement = { reference, description: 'Rowing club' }
    made = (await api.post('/v1/agreements', agreement)).body
    const paid = { scenario: 'success', set_up_agreement: made.agreement_id, reference }
    if (reference === 'CLUB-31') await ask(service, api, 'payments', paid)
  }
  for (const at of [undefined, '2026-03-29T00:59:58Z']) {
    const { body } = await ask(service, api, 'accounts', at ? { at } : {})
    await createClient(service.baseUrls, body.key).createPayment()
  }
  return made
}

async function takeConsole(service: Service, browser: Browser, styles: string): Promise<void> {
  const api = await service.newAccount()
  const shelf = await fillAccount(service, api)
  const agreement = await addOthers(service, api)
  const [name = '', value = ''] = (await signIn(service, api)).cookie?.split('=') ?? []
  const document = await readFile(new URL('../docs/console.md', import.meta.url), 'utf8')
  const addressOf = await addressesOf(service, api, { shelf, agreement })
  const paths = ['sign-in', ...pages.map(({ path }) => path)]
  const shown = paths.filter(path => document.includes(`console-${pictureOf(path)}-`))
  for (const [screen, viewport] of Object.entries(screens))
    for (const path of shown)
      await visit(browser, { viewport, bypassCSP: true }, async ({ page, context }) => {
        await context.addCookies([{ name, value, url: service.baseUrl }])
        await page.goto(`${service.baseUrl}/console/${addressOf(path)}`)
        await page.evaluate(STEADY)
        await take(page, styles, `console-${pictureOf(path)}-${screen}`, MOST_OF_CONSOLE)
      })
  await shelf.close()
}

const service = await startService('sqlite', { ...receiving, control: true, seed: 'screenshots' })
const browser = await startBrowser(['--disable-lcd-text', '--font-render-hinting=none'])
try {
  await mkdir(images, { recursive: true })
  const api = await service.newAccount()
  const styles = await typeface()
  if ('console'.startsWith(wanted)) await takeConsole(service, browser, styles)
  const hosted = Object.keys(pageStates).filter(state => state.startsWith(wanted))
  for (const [screen, viewport] of Object.entries(screens))
    for (const language of ['en', 'cy'] as const)
      for (const state of hosted)
        await visit(browser, { viewport, bypassCSP: true }, async ({ page }) => {
          await showState(page, api, state, language)
          const shown = await page.getAttribute('html', 'lang')
          if (shown === language) await take(page, styles, `${state}-${language}-${screen}`)
        })
} finally {
  await browser.close()
  await service.stop()
}
