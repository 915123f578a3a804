/** Real Chromium for the tests of the hosted pages and for their screenshots. */
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

/** The browser finds loopback and the names of the test certificate there, and nothing else anywhere. */
const resolverRules = [
  'MAP receiver.test 127.0.0.1',
  'MAP *.receiver.test 127.0.0.1',
  'MAP * ~NOTFOUND',
  'EXCLUDE 127.0.0.1',
  'EXCLUDE localhost',
].join(',')

/**
 * Starts the Chromium that FARTHING_TEST_CHROMIUM names or else the one in @sparticuz/chromium, with
 * `more` switches. Throws an Error whose message is one sentence when it cannot be started.
 */
export async function startBrowser(more: string[] = []): Promise<Browser> {
  const executablePath = process.env.FARTHING_TEST_CHROMIUM || (await unpackChromium())
  const options = {
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
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

/** One person with a browser of their own, and what was seen over their shoulder. */
export type Visitor = {
  page: Page
  context: BrowserContext
  /** Everything that was asked for, in its order: `GET http://...`. */
  requests: string[]
  /** What the browser complained of on its console, and errors of scripts. */
  complaints: string[]
}

/** Status lines are no complaints: the tests know which pages are errors. */
const STATUS_LINE = /^Failed to load resource: the server responded with a status of/

/** Opens a window of its own for `use` and closes it after. */
export async function visit<T>(
  browser: Browser,
  options: BrowserContextOptions,
  use: (visitor: Visitor) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', request => requests.push(`${request.method()} ${request.url()}`))
  page.on('pageerror', error => complaints.push(`${error}`))
  page.on('console', message => {
    const text = message.text()
    if (message.type() === 'error' && !STATUS_LINE.test(text)) complaints.push(text)
  })
  try {
    return await use({ page, context, requests, complaints })
  } finally {
    await context.close()
  }
}

/** How an element, or a part of it like `::before`, looks once all styles are applied. */
export const styleOf = (
  page: Page,
  selector: string,
  property: string,
  part = '',
): Promise<string> =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)}), '${part}').getPropertyValue('${property}')`,
  )

/** The id of what the keyboard would act on; without an id its tag. */
export const focusOf = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.id || document.activeElement.tagName')

/**
 * The package unpacks its browser itself, but not safely when two test files do so at once: this way
 * the file has its name only when it is whole, and is never replaced. A browser that is starting while
 * its file is replaced crashes.
 */
async function unpackChromium(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const folder = join(entry, '../../..')
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const target = join(tmpdir(), `farthing-test-chromium-${version}`)
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
