import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { freePort } from '../../support/ports.ts'
import { COMMAND } from '../../support/process.ts'
import { KEY, settings } from './serve.ts'

const LOG = new URL('../../../src/core/log.ts', import.meta.url)

test('The service starts, responds and stops while its log is on a full disk', async t => {
  const full = openSync('/dev/full', 'w')
  const port = await freePort() // the service cannot log which port it got
  const env = {
    PATH: process.env.PATH,
    ...settings(tempDatabase(), { PORT: String(port), LOG_LEVEL: 'info' }),
  }
  const child = spawn(process.execPath, [COMMAND], { env, stdio: ['ignore', full, full] })
  const exited = once(child, 'exit')
  t.after(() => {
    child.kill('SIGKILL')
    closeSync(full)
  })
  const api = createClient([`http://127.0.0.1:${port}`], KEY)
  const isUp = () => api.get('/healthz').then(Boolean, () => false)
  while (child.exitCode === null && !(await isUp())) await setTimeout(20)
  for (let i = 0; i < 3; i++) {
    await api.createPayment()
    await setTimeout(50) // the service has tried to write the lines
  }
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})

/** Logs a long line and 20 MB of short lines, reports that, and then logs a line every 20 ms. */
const TALKATIVE = `
  import { createLogger } from ${JSON.stringify(LOG)}
  const logger = createLogger('info', false)
  logger.info('y'.repeat(100_000))
  for (let line = 0; line < 20_000; line++) logger.info('x'.repeat(1_000))
  process.stderr.write('written')
  setInterval(() => logger.info('later'), 20)
`

test('If nobody reads the log, 8 MB of complete lines are kept, and later lines are written when a reader comes', async t => {
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
