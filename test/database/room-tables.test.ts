import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/app/config.ts'
import { ROOM_TABLES } from '../../src/pay/ended-rooms.ts'
import { openDatabase } from '../../src/platform/database/open.ts'

/** Their column `account` has the name of an account, not a room: docs/glossary.md. */
const OF_ACCOUNTS = ['api_keys', 'ended_rooms']

test('the rows of every table with a column account are deleted with their room', async t => {
  const database = await openDatabase(readConfig({ DATABASE_URL: 'sqlite::memory:' }).database, {
    onUnknownOutcome: assert.ifError,
    onConnectionError: assert.ifError,
  })
  t.after(() => database.close())
  const tables = await database.query<{ name: string }>(
    `select tables.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
     where tables.type = 'table' and columns.name = 'account'`,
    [],
  )
  // A message has the room of its webhook.
  const swept = new Set(Object.keys(ROOM_TABLES)).difference(new Set(['webhook_messages']))
  assert.deepEqual(tables.map(({ name }) => name).sort(), [...swept, ...OF_ACCOUNTS].sort())
})
