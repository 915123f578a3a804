/** Starts Chromium for the browser tests and the screenshots. */
import assert from 'node:assert/strict'
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { after, before } from 'node:test'
import { createBrotliDecompress } from 'node:zlib'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

/** The browser resolves loopback and the names of the test certificate to this machine, and no other name. */
const resolverRules = [
  'MAP receiver.test 127.0.0.1',
  'MAP *.receiver.test 127.0.0.1',
  'MAP * ~NOTFOUND',
  'EXCLUDE 127.0.0.1',
  'EXCLUDE localhost',
].join(',')

/**
 * Starts the Chromium at the path FARTHING_TEST_CHROMIUM, or the one in @sparticuz/chromium. `more` are further
 * command-line switches. Throws an Error whose message is one sentence if it cannot be started.
 */
export async function startBrowser(more: string[] = []): Promise<Browser> {
  const executablePath = process.env.FARTHING_TEST_CHROMIUM || (await unpackChromium())
  const options = {
    executablePath,
    args: [
      ...'--headless --no-sandbox --disable-gpu --disable-quic --disable-sync --no-first-run'.split(
        ' ',
      ),
      ...'--no-proxy-server --disable-background-networking --disable-component-update'.split(' '),
      // Otherwise each visit to another site starts a process, and compiles axe anew.
      '--renderer-process-limit=1',
      '--ignore-certificate-errors',
      `--host-resolver-rules=${resolverRules}`,
      ...more,
    ],
  }
  return chromium.launch(options).catch((error: Error) => {
    const [reason] = error.message.split('\n')
    throw new Error(`Chromium (${executablePath}) cannot be started for this run: ${reason}`)
  })
}

let shared: Promise<Browser> | undefined
let users = 0
const windows = new Map<string, Promise<Visitor>>()

/**
 * Gives the tests of a file the browser that all files of a process share, because each takes more than a second to
 * start. It closes after the last of these files.
 */
export function shareBrowser(): () => Browser {
  let browser: Browser
  before(async () => {
    users += 1
    shared ??= startBrowser()
    browser = await shared.catch(endProcess)
  })
  after(async () => {
    if (--users > 0) return
    shared = undefined
    windows.clear()
    await browser.close()
  })
  return () => browser
}

/** If a hook fails, the runner calls no other, and the services of the tests would keep the process for ever. */
function endProcess({ message }: Error): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** A browser window of its own, with a record of its requests and errors. */
export type Visitor = {
  page: Page
  context: BrowserContext
  /** Every request in order, such as `GET http://...`. */
  requests: string[]
  /** Errors on the browser's console and uncaught errors of scripts. */
  complaints: string[]
}

/** Chromium logs every error status. The tests check statuses themselves. */
const STATUS_LINE = /^Failed to load resource: the server responded with a status of/

/** Milliseconds that one step of a visitor may take on a busy machine. */
const LONGEST_STEP = 60_000

export async function visit<T>(
  browser: Browser,
  options: BrowserContextOptions,
  use: (visitor: Visitor) => Promise<T>,
): Promise<T> {
  const visitor = await openWindow(browser, options)
  try {
    return await use(visitor)
  } finally {
    await visitor.context.close()
  }
}

/**
 * Returns a `visit` in a window that all files with these options share, because a new one takes a new process. Each call
 * starts with an empty page, no cookies and a new record. The window closes with the browser.
 */
export function visitInOneWindow(
  browser: () => Browser,
  options: BrowserContextOptions = {},
): <T>(use: (visitor: Visitor) => Promise<T>) => Promise<T> {
  const kind = JSON.stringify({ javaScriptEnabled: true, ...options })
  return async use => {
    const opened = windows.get(kind) ?? openWindow(browser(), options)
    windows.set(kind, opened)
    const visitor = await opened
    const { page, context, requests, complaints } = visitor
    await page.unrouteAll()
    await page.goto('about:blank')
    await page.emulateMedia({ media: null, forcedColors: null })
    await page.setViewportSize(options.viewport ?? USUAL_SIZE)
    await context.clearCookies()
    await context.clearPermissions()
    requests.length = 0
    complaints.length = 0
    return use(visitor)
  }
}

/** The size that Playwright gives to a window. */
const USUAL_SIZE = { width: 1280, height: 720 }

/** Opens a window that stays open until its context or the browser is closed. */
export async function openWindow(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(LONGEST_STEP)
  await context.addInitScript(WITHOUT_MOTION)
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', request => requests.push(`${request.method()} ${request.url()}`))
  page.on('pageerror', error => complaints.push(`${error}`))
  page.on('console', message => {
    const text = message.text()
    if (message.type() === 'error' && !STATUS_LINE.test(text)) complaints.push(text)
  })
  return { page, context, requests, complaints }
}

/** Animations and transitions take no time, and nothing scrolls smoothly. A page's policy for styles does not apply to it. */
const WITHOUT_MOTION = `{
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(
    '*, ::before, ::after { animation: none !important; transition: none !important; scroll-behavior: auto !important }',
  )
  document.adoptedStyleSheets.push(sheet)
}`

/**
 * Waits until the page has loaded with its fonts, and then for a frame in which no script changes it. There are no
 * frames in a window without scripts or whose clock stands still.
 */
export const atRest = (page: Page): Promise<void> =>
  page.evaluate<void>(`(async () => {
    if (document.readyState !== 'complete')
      await new Promise(loaded => addEventListener('load', loaded, { once: true }))
    await document.fonts.ready
    let changes = 0
    const observer = new MutationObserver(() => void ++changes)
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
    for (let seen = -1; seen < changes; await new Promise(requestAnimationFrame)) seen = changes
    observer.disconnect()
  })()`)

/** The value of an expression in the page, once the page is at rest. */
export async function look<T>(page: Page, expression: string): Promise<T> {
  await atRest(page)
  return page.evaluate<T>(expression)
}

/** Presses a button and waits until the page to which it leads has loaded. */
export const press = (page: Page, button: string): Promise<unknown> =>
  Promise.all([page.waitForEvent('load'), page.click(button)])

/** Signs in to a window with the cookie of a session. */
export function bringSession(context: BrowserContext, url: string, cookie = ''): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  return context.addCookies([{ name, value, url }])
}

/** Signs in to a window. Fails if the page complains. */
export async function useAs(
  baseUrl: string,
  session: string,
  visitor: Visitor,
  use: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  await bringSession(visitor.context, baseUrl, session)
  await use(visitor)
  assert.deepEqual(visitor.complaints, [])
}

/** `part` is a pseudo-element such as `::before`. */
export const styleOf = (page: Page, selector: string, property: string, part = '') =>
  look<string>(
    page,
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)}), '${part}').getPropertyValue('${property}')`,
  )

/** The id of the element that has the focus, or its tag if it has no id. */
export const focusOf = (page: Page): Promise<string> =>
  look(page, 'document.activeElement.id || document.activeElement.tagName')

/** The pixels of the page that can only be reached by scrolling sideways. */
export const hiddenWidth = (page: Page): Promise<number> =>
  look(page, 'document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** In pixels of the page's window. */
export const boxOf = (
  page: Page,
  selector: string,
): Promise<{ x: number; y: number; width: number; height: number }> =>
  look(page, `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`)

/**
 * Unpacks the browser once. The package's own unpacking is not safe if two test files do it at the same time,
 * because Chromium crashes if its file is replaced while it starts. `link` gives a complete file its name, and
 * fails if the name exists.
 */
export async function unpackChromium(): Promise<string> {
  const folder = join(createRequire(import.meta.url).resolve('@sparticuz/chromium'), '../../..')
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const target = join(tmpdir(), `farthing-test-chromium-${version}-${process.getuid?.()}`)
  if (existsSync(target)) return target
  const draft = `${target}.${process.pid}`
  await pipeline(
    createReadStream(join(folder, 'bin/chromium.br')),
    createBrotliDecompress(),
    createWriteStream(draft, { mode: 0o755 }),
  )
  await link(draft, target).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return target
}
