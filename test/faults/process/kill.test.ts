import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashPostgres, crashSqlite } from './crashes.ts'

const seed = Number(process.env.FARTHING_TEST_SEED ?? Date.now() % 1_000_000)

test('kill -9 of the service loses nothing acknowledged and leaves nothing half done', async t => {
  const report = await crashSqlite({ cycles: 20, seed })
  t.diagnostic(JSON.stringify(report))
  assert.ok(report.unanswered > 0, 'the crashes hit requests under way')
  assert.ok(report.messages > 0)
})

test('kill -9 of PostgreSQL under two instances does neither, and they go on without a restart', async t => {
  const report = await crashPostgres({ cycles: 4, seed })
  t.diagnostic(JSON.stringify(report))
  assert.ok(report.unanswered > 0, 'the crashes hit requests under way')
  assert.ok(report.messages > 0)
})
