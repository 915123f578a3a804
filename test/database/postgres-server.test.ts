import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tempFolder } from '../support/folders.ts'
import { startPostgres } from '../support/postgres.ts'

test('The PostgreSQL server of a test run that cannot be started says why in one sentence', async () => {
  const binaries = tempFolder()
  await assert.rejects(startPostgres({ binaries }), {
    message: /^PostgreSQL cannot be started for this run: spawn .+initdb ENOENT$/,
  })
})
