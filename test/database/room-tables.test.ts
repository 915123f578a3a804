import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ROOM_TABLES } from '../../src/app/ended-rooms-store.ts'
import type { Database } from '../../src/core/ports.ts'
import { PAYMENT_TABLES } from '../../src/pay/retention.ts'
import { openAt } from '../support/open-database.ts'

/** The column `account` of these tables has the name of an account, not a room: docs/glossary.md. */
const OF_ACCOUNTS = ['api_keys', 'ended_rooms']
/** A message loses only its body with its payment. Exchanges are deleted by their own age. */
const NOT_WITH_PAYMENTS = ['exchanges', 'webhook_messages']

let database: Database
before(async () => {
  database = await openAt('sqlite::memory:')
})
after(() => database?.close())

async function tablesWith(column: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `select tables.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
     where tables.type = 'table' and columns.name = $1`,
    [column],
  )
  return tables.map(({ name }) => name).sort()
}

test('the rows of every table with a column account are deleted with their room', async () => {
  // Messages have no such column: a message has the room of its webhook.
  const swept = new Set(Object.keys(ROOM_TABLES)).difference(new Set(['webhook_messages']))
  assert.deepEqual(await tablesWith('account'), [...swept, ...OF_ACCOUNTS].sort())
})

test('the rows of every table with a column payment_id are deleted with their payment', async () => {
  const kept = ['payments', ...Object.keys(PAYMENT_TABLES), ...NOT_WITH_PAYMENTS].sort()
  assert.deepEqual(await tablesWith('payment_id'), kept)
})
