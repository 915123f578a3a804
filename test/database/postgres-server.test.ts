import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import pg from 'pg'
import { tempFolder } from '../support/folders.ts'
import { installedBinaries, startPostgres } from '../support/postgres.ts'

describe('The PostgreSQL server of a test run', () => {
  const folder = tempFolder()

  test('The PostgreSQL server of a test run starts from a private folder with a space in its path', async () => {
    const clone = join(folder, 'a clone')
    mkdirSync(clone, { mode: 0o700 })
    const binaries = join(clone, 'native')
    cpSync(installedBinaries(), binaries, { recursive: true, verbatimSymlinks: true })
    const server = await startPostgres({ binaries })
    try {
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      const { rows } = await client.query('select 1 as one')
      await client.end()
      assert.deepEqual(rows, [{ one: 1 }])
    } finally {
      await server.stop()
    }
  })

  test('The PostgreSQL server of a test run that cannot be started says why in one sentence', async () => {
    const binaries = join(folder, 'empty')
    mkdirSync(binaries)
    await assert.rejects(startPostgres({ binaries }), {
      message: /^PostgreSQL cannot be started for this run: spawn .+initdb ENOENT$/,
    })
  })
})
