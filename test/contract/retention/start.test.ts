import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../../../src/config.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { createNewId } from '../../../src/ids.ts'
import { insertPayment } from '../../../src/payments/store.ts'
import { startProcess } from '../../support/process.ts'
import { samplePayment } from '../../support/sample-payment.ts'

const EIGHT_DAYS = 8 * 24 * 60 * 60 * 1000

test('a service deletes at its start the payments that expired while it was not running', {
  timeout: 30_000,
}, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-retention-'))
  const env = { DATABASE_URL: `sqlite:${join(folder, 'farthing.db')}` }
  const database = await openDatabase(readConfig(env).database, {
    onUnknownOutcome: assert.ifError,
    onConnectionError: assert.ifError,
  })
  const payment_id = createNewId()(Date.now() - EIGHT_DAYS)
  await database.write([insertPayment({ ...samplePayment('created'), payment_id })])
  const rows = async () =>
    (await database.query('select 1 from payments union all select 1 from payment_counts')).length
  assert.equal(await rows(), 2)

  const service = await startProcess({ env })
  t.after(async () => {
    await service.kill()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  while ((await rows()) > 0) await pause(20)
})
