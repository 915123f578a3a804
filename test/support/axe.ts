import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** WCAG 2.2 at levels A and AA, and what axe counts as best practice. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * What axe finds wrong with the page, one line for each; also what it could not decide. axe comes in by
 * way of the debugger, so that the page keeps its content security policy.
 */
export async function axe(page: Page): Promise<string[]> {
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
  if (passes.length < 10) throw new Error('axe has looked at nothing')
  return [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}
