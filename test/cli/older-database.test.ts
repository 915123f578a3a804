import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/app/config.ts'
import { inspectDatabase } from '../../src/platform/database/inspect.ts'
import { newestMigration } from '../../src/platform/database/migrate.ts'
import { runHere } from '../support/command.ts'
import { tempDatabase } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import { copyMigratedDatabase } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'

for (const kind of ['sqlite', 'postgres'] as const)
  test(`no command migrates a database of an older version, and each says that the next start does, which logs it (${kind})`, async () => {
    const DATABASE_URL = kind === 'sqlite' ? tempDatabase() : await copyMigratedDatabase()
    const address = readConfig({ DATABASE_URL }).database
    const database = await openAt(DATABASE_URL)
    const newest = newestMigration()
    // Undoes the newest migration.
    for (const sql of [
      'drop index webhooks_active',
      'drop index api_keys_by_account',
      `delete from migrations where number = ${newest}`,
    ])
      await database.write([{ sql, values: [] }])
    await database.close()
    for (const line of [
      'keys list',
      'keys create',
      'keys create --create',
      'keys revoke 06h3k9v0u2j4m5n6p7q8r9s0t1',
      'seed --payments 1',
      'open',
    ]) {
      const args = line.split(' ')
      const { code, stdout, stderr } = await runHere({ args, env: { DATABASE_URL } })
      assert.equal(code, 1, line)
      assert.equal(stdout, '', line)
      assert.match(
        stderr,
        new RegExp(
          `^farthing: .+ has version ${newest - 1}\\. The next start of the service brings it to ${newest}: start it before this command\\n$`,
        ),
        line,
      )
      assert.equal((await inspectDatabase(address, '')).has, newest - 1, line)
    }
    const line = `"migrated the database from version ${newest - 1} to ${newest}"`
    for (const isMigrated of [true, false]) {
      const service = await startProcess({ env: { DATABASE_URL } })
      assert.deepEqual(await service.terminate(), { code: 0, signal: null })
      assert.equal(service.output().includes(line), isMigrated, service.output())
    }
  })
