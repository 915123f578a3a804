import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Statement } from '../../src/core/ports.ts'
import {
  createCommit,
  createQueue,
  type Result,
} from '../../src/platform/database/sqlite/commit.ts'
import { type Connection, connect } from '../../src/platform/database/sqlite/connection.ts'
import { createReader, openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { damageLastPage } from '../support/damaged-page.ts'
import { tempFolder } from '../support/folders.ts'

const put = (value: number) => [{ sql: 'insert into a values ($1)', values: [value] }]

test('Concurrent writes share commits, large writes smaller ones, and keep their order', async t => {
  const commits: number[] = []
  const database = openSqlite({
    path: join(tempFolder(), 'farthing.db'),
    onUnknownOutcome: error => assert.fail(String(error)),
    onCommit: writes => commits.push(writes),
  })
  t.after(() => database.close())
  await database.write([{ sql: 'create table a (b integer)', values: [] }])
  commits.length = 0
  const values = Array.from({ length: 500 }, (_, i) => i)
  await Promise.all(values.map(value => database.write(put(value))))
  const rows = await database.query<{ b: number }>('select b from a order by rowid')
  const stored = rows.map(({ b }) => b)
  assert.deepEqual(stored, values)
  const committed = commits.reduce((sum, writes) => sum + writes)
  assert.equal(committed, values.length)
  assert.ok(commits.length < values.length / 10, `${commits.length} commits`)
  commits.length = 0
  const large = Array.from({ length: 4_000 }, () => put(1)).flat()
  await Promise.all(values.slice(0, 12).map(() => database.write(large)))
  assert.ok(Math.max(...commits) <= 4, `${commits}`)
})

test('Damage to the record of requests fails its writes alone, from then on without a try', () => {
  const path = join(tempFolder(), 'farthing.db')
  const made = connect(path, 1_000)
  made.exec('create table a (b integer); create table exchanges (id text primary key, body text)')
  const row = { sql: 'insert into exchanges values ($1, $2)', ofRecord: true } as const
  for (let i = 100; i < 200; i++) made.run({ ...row, values: [`${i}`, 'x'.repeat(500)] })
  made.close()
  damageLastPage(path, 'exchanges')
  const connection = connect(path, 1_000)
  const commit = createCommit(connection)
  const batch = [put(1), [{ ...row, values: ['200', ''] }], put(2)]
  for (let round = 1; round <= 2; round++) {
    const [first, ofRecord, last] = commit(batch)
    assert.deepEqual([first, last], [true, true])
    assert.ok(typeof ofRecord === 'object' && ofRecord.kind === 'undone')
    const rows = connection.query('select count(*) as found from a', [])
    assert.deepEqual(rows, [{ found: 2 * round }])
  }
  connection.close()
})

/** A commit function on a database in memory, and a record of the SQL that it ran with `exec`. */
function watchedCommit(onExec: (sql: string, connection: Connection) => void = () => {}) {
  const connection = connect(':memory:', 1_000)
  connection.exec('create table a (b integer primary key)')
  const ran: string[] = []
  const commit = createCommit({
    ...connection,
    exec(sql) {
      ran.push(sql)
      onExec(sql, connection)
      connection.exec(sql)
    },
  })
  const written = () =>
    connection.query<{ b: number }>('select b from a order by b', []).map(({ b }) => b)
  return { commit, ran, written }
}

const missing: Statement = { sql: 'update a set b = 0 where b = $1', values: [-1], expect: 1 }

test('A batch runs without savepoints if no failed write has changed anything', () => {
  const { commit, ran, written } = watchedCommit()
  const [one, taken, missed, three] = commit([put(1), put(1), [missing, ...put(2)], put(3)])
  assert.deepEqual([one, missed, three], [true, false, true])
  assert.equal(typeof taken, 'object')
  assert.deepEqual(ran, ['begin immediate', 'commit'])
  assert.deepEqual(written(), [1, 3])
})

test('A failed write is undone completely, and the other writes of its batch are kept', () => {
  const { commit, written } = watchedCommit()
  const [taken] = put(1)
  const all: Statement = { sql: 'update a set b = -b', values: [], expect: 1 }
  const results = commit([
    put(1),
    put(2),
    [...put(3), missing],
    [{ sql: 'insert into a values (4)', values: [], ...(taken && { also: taken }) }],
    [all, ...put(5)],
    put(6),
  ])
  const kinds = results.map(result => (typeof result === 'object' ? result.kind : result))
  assert.deepEqual(kinds, [true, true, false, 'undone', false, true])
  assert.deepEqual(written(), [1, 2, 6])
})

test('If another process takes the lock between the two passes, the batch is rejected and the next one is written', () => {
  let passes = 0
  const { commit, written } = watchedCommit((_, connection) => {
    if (++passes !== 2) return
    connection.exec('rollback')
    throw Object.assign(new Error('database is locked'), { errcode: 5 })
  })
  for (const result of commit([put(1), [...put(2), missing]]))
    assert.deepEqual(result, { message: 'database is locked', errcode: 5, kind: 'undone' })
  assert.deepEqual(commit([put(3)]), [true])
  assert.deepEqual(written(), [3])
})

test('After a commit whose outcome is unknown nothing more is written', () => {
  const ioError = Object.assign(new Error('disk I/O error'), { errcode: 1034 })
  let failing = true
  const { commit, written } = watchedCommit((sql, connection) => {
    if (sql !== 'commit' || !failing) return
    connection.exec(sql)
    throw ioError
  })
  const [first] = commit([put(1)])
  failing = false
  const [second] = commit([put(2)])
  for (const result of [first, second])
    assert.deepEqual(result, { message: 'disk I/O error', errcode: 1034, kind: 'unknown' })
  assert.deepEqual(written(), [1])
})

test('After a commit whose outcome is unknown reads are rejected', async () => {
  let broken: Error | undefined
  const reader = createReader(connect(':memory:', 1_000), () => broken)
  assert.deepEqual(await reader.query('select 1 as one'), [{ one: 1 }])
  broken = new Error('disk I/O error')
  await assert.rejects(reader.query('select 1 as one'), /disk I\/O error/)
  reader.close()
})

test('After a full disk the database tries for room until something was written, and then no more', async () => {
  let result: Result = { kind: 'full', message: 'the disk is full', errcode: undefined }
  let commits = 0
  const commit = async (batch: unknown[]) => {
    commits += 1
    return batch.map(() => result)
  }
  const queue = createQueue(
    { commit, close: async () => {} },
    { onUnknownOutcome: error => assert.fail(String(error)) },
  )
  await queue.check()
  await assert.rejects(queue.write(put(1)), /full/)
  result = { kind: 'undone', message: 'the database is locked', errcode: undefined }
  await assert.rejects(queue.check(), /locked/)
  result = true
  for (let looks = 0; looks < 2; looks++) await queue.check()
  assert.equal(commits, 3)
})
