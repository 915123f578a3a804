import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { atRest } from './browser.ts'

/** In ASCII: Chromium takes twice as long to hand on other text. */
const source = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
).replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** WCAG 2.2 at levels A and AA, and the best practices of axe. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Returns a text for each violation that axe finds once the page is at rest, and for each check that it could not
 * decide. axe is injected through the debugger, so the page's content security policy stays in force.
 */
export async function axe(page: Page): Promise<string[]> {
  await atRest(page)
  const debug = await page.context().newCDPSession(page)
  await debug.send('Runtime.evaluate', { expression: source })
  const options = JSON.stringify({ runOnly: tags, resultTypes: ['violations', 'incomplete'] })
  const { result, exceptionDetails } = await debug.send('Runtime.evaluate', {
    expression: `axe.run(document, ${options})`,
    awaitPromise: true,
    returnByValue: true,
  })
  await debug.detach()
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description)
  const { violations, incomplete, passes }: AxeResults = result.value
  if (passes.length < 10)
    throw new Error('axe passed fewer than 10 checks, so it did not see the page')
  return [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}
