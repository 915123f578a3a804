import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/database/sqlite/connection.ts'
import { createReader } from '../../src/database/sqlite/sqlite.ts'

test('After a commit of which nobody knows the outcome, what is read is rejected too', async () => {
  let refusal: Error | undefined
  const reader = createReader(connect(':memory:', 1_000), () => refusal)
  assert.deepEqual(await reader.query('select 1 as one'), [{ one: 1 }])
  refusal = new Error('disk I/O error')
  await assert.rejects(reader.query('select 1 as one'), /disk I\/O error/)
  reader.close()
})
