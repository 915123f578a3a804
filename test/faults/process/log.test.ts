import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

const LOG = new URL('../../../src/log.ts', import.meta.url)

/** Writes a long line and 20 MB of short ones at once, says so, and then one now and then. */
const TALKATIVE = `
  import { createLogger } from ${JSON.stringify(LOG)}
  const logger = createLogger('info', false)
  logger.info('y'.repeat(100_000))
  for (let line = 0; line < 20_000; line++) logger.info('x'.repeat(1_000))
  process.stderr.write('written')
  setInterval(() => logger.info('later'), 20)
`

test('Of a log that nobody reads 8 MB of whole lines are kept for who comes, and what is written then', async t => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', TALKATIVE])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stderr, 'data')
  let text = ''
  child.stdout.setEncoding('utf8')
  for await (const piece of child.stdout) {
    text += piece
    if (piece.includes('later')) break
  }
  const lines = text.trimEnd().split('\n')
  assert.ok(text.length > 7_000_000 && text.length < 9_000_000, `${text.length} bytes`)
  for (const line of lines.slice(0, -1)) assert.equal(typeof JSON.parse(line).msg, 'string')
})
