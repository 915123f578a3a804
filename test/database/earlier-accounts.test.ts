import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { givenName } from '../../src/core/account.ts'
import { accountBeforeEnd, findKey, findTestAccount } from '../../src/platform/accounts/store.ts'
import { tempDatabase } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import { copyMigratedDatabase } from '../support/postgres.ts'

const MIGRATION = '../../src/platform/database/migrations/0019-names-of-test-accounts.sql'

for (const [kind, newDatabase] of Object.entries({
  SQLite: async () => tempDatabase(),
  PostgreSQL: copyMigratedDatabase,
}))
  test(`Test accounts of an earlier version keep their names, keys and rooms on ${kind}`, async t => {
    const database = await openAt(await newDatabase())
    t.after(() => database.close())
    const run = (...texts: string[]) => database.write(texts.map(sql => ({ sql, values: [] })))
    await run(
      `insert into accounts (name, room, clock_offset, frozen_at, parent, epoch, expires, ended) values
         ('team', 'team', 0, null, null, 0, null, 0),
         ('checkout', 'checkout#1', 0, null, 'team', 1, 9000, 0),
         ('over', 'over#1', 0, null, 'team', 1, 9000, 1)`,
      `insert into ended_rooms (room, account, since) values
         ('checkout', 'checkout', 1), ('over', 'over', 2)`,
      `insert into api_keys (key_id, account, hash, created) values
         ('k1', 'team', '${hash('sha256', 'of the team')}', 1),
         ('k2', 'checkout', '${hash('sha256', 'of checkout')}', 1)`,
    )
    const sql = readFileSync(new URL(MIGRATION, import.meta.url), 'utf8').replace(/^--.*$/gm, '')
    await run(...sql.split(';').filter(text => text.trim() !== ''))

    const roomOfKey = async (key: string) => (await findKey(database, key, [], 5))?.account.room
    assert.equal(await roomOfKey('of the team'), 'team')
    assert.equal(await roomOfKey('of checkout'), 'checkout#1')
    const found = await findTestAccount(database, 'team', 'checkout')
    assert.deepEqual([found && givenName(found), found?.room], ['checkout', 'checkout#1'])
    const over = await findTestAccount(database, 'team', 'over')
    assert.ok(over)
    assert.equal((await accountBeforeEnd(database, over))?.room, 'over')
  })
