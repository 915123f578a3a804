import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres } from '../../src/database/postgres.ts'
import { createPostgresDatabase } from '../support/postgres.ts'

test('a connection that breaks while idle is reported once, and replaced', async () => {
  const url = await createPostgresDatabase()
  const reported: string[] = []
  const database = openPostgres({ url, onConnectionError: error => reported.push(error.message) })
  const other = openPostgres({ url, onConnectionError: assert.ifError })
  const pid = async () =>
    (await database.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid ?? 0

  const broken = await pid()
  await other.query('select pg_terminate_backend($1::int)', [broken])
  while (reported.length === 0) await new Promise(setImmediate)
  assert.notEqual(await pid(), broken)
  await database.close()
  await other.close()

  assert.deepEqual(reported, ['terminating connection due to administrator command'])
})
