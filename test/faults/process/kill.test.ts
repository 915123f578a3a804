import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seed } from '../../support/properties.ts'
import { crashSqlite } from './crashes.ts'

test('Kill -9 of the service loses no acknowledged change and leaves no half change', async t => {
  const report = await crashSqlite({ cycles: 2, seed })
  t.diagnostic(JSON.stringify(report))
  assert.ok(report.unanswered > 0, 'the crashes hit requests in flight')
  assert.ok(report.messages > 0)
})
