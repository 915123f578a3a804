import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqlite } from '../../src/database/sqlite.ts'
import { connect } from '../../src/database/sqlite-connection.ts'
import { createCommit } from '../../src/database/sqlite-writer.ts'

const put = (value: number) => [{ sql: 'insert into a values ($1)', values: [value] }]

test('Writes that come together share commits, in the order of their coming', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-commit-'))
  const commits: number[] = []
  const database = openSqlite({
    path: join(folder, 'farthing.db'),
    onUnknownOutcome: error => assert.fail(String(error)),
    onCommit: writes => commits.push(writes),
  })
  await database.exec('create table a (b integer)')
  const values = Array.from({ length: 500 }, (_, i) => i)
  await Promise.all(values.map(value => database.write(put(value))))
  const rows = await database.query<{ b: number }>('select b from a order by rowid')
  assert.deepEqual(
    rows.map(({ b }) => b),
    values,
  )
  assert.equal(
    commits.reduce((sum, writes) => sum + writes),
    values.length,
  )
  assert.ok(commits.length < values.length / 10, `${commits.length} commits`)
  await database.close()
  rmSync(folder, { recursive: true })
})

test('After a commit whose outcome is unknown nothing is written', () => {
  const connection = connect(':memory:', 1_000)
  connection.exec('create table a (b integer)')
  const ioError = Object.assign(new Error('disk I/O error'), { errcode: 1034 })
  let failing = true
  const commit = createCommit({
    ...connection,
    exec(sql) {
      connection.exec(sql)
      if (sql === 'commit' && failing) throw ioError
    },
  })
  const [first] = commit([put(1)])
  failing = false
  const [second] = commit([put(2)])
  for (const result of [first, second])
    assert.deepEqual(result, { message: 'disk I/O error', errcode: 1034, kind: 'unknown' })
  assert.deepEqual(connection.query('select b from a', []), [{ b: 1 }])
})
