/** Real Chromium for the tests of the hosted pages and for their screenshots. */
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

/** The browser finds loopback and the names of the test certificate there, and nothing else anywhere. */
const resolverRules = [
  'MAP receiver.test 127.0.0.1',
  'MAP *.receiver.test 127.0.0.1',
  'MAP * ~NOTFOUND',
  'EXCLUDE 127.0.0.1',
  'EXCLUDE localhost',
].join(',')

/** Starts the Chromium that FARTHING_TEST_CHROMIUM names or else the one in @sparticuz/chromium. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.FARTHING_TEST_CHROMIUM || (await unpackChromium()),
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
    ],
  })
}

/**
 * The package unpacks its browser itself, but not safely when two test files do so at once: this way
 * the file has its name only when it is whole.
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
  await rename(draft, target)
  return target
}
