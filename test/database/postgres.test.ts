import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres } from '../../src/database/postgres.ts'
import { createPostgresDatabase } from '../support/postgres.ts'

test('a connection that breaks while idle is reported once, and replaced', async t => {
  const url = await createPostgresDatabase()
  const reported: string[] = []
  const database = openPostgres({ url, onConnectionError: error => reported.push(error.message) })
  const other = openPostgres({ url, onConnectionError: assert.ifError })
  t.after(() => Promise.all([database.close(), other.close()]))
  const pid = async () =>
    (await database.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid ?? 0

  const broken = await pid()
  await other.query('select pg_terminate_backend($1::int)', [broken])
  while (reported.length === 0) await new Promise(setImmediate)
  assert.notEqual(await pid(), broken)
  assert.deepEqual(reported, ['terminating connection due to administrator command'])
})

test('two writes that wait for each other are both done: the one that is undone is made again', async t => {
  const url = await createPostgresDatabase()
  const database = openPostgres({ url, onConnectionError: assert.ifError })
  t.after(() => database.close())
  await database.exec('create table a (b integer primary key, c integer)')
  await database.exec('insert into a values (1, 0), (2, 0)')
  const raise = (b: number) => ({ sql: 'update a set c = c + 1 where b = $1', values: [b] })
  const sleep = { sql: 'select pg_sleep(0.2)', values: [] }
  const written = await Promise.all([
    database.write([raise(1), sleep, raise(2)]),
    database.write([raise(2), sleep, raise(1)]),
  ])
  assert.deepEqual(written, [true, true])
  assert.deepEqual(await database.query('select c from a'), [{ c: 2 }, { c: 2 }])
})

test('a server that takes no writes is not ready', async t => {
  const database = openPostgres({
    url: await createPostgresDatabase(),
    onConnectionError: assert.ifError,
  })
  t.after(() => database.close())
  await database.check()
  await database.exec('set default_transaction_read_only = on')
  await assert.rejects(database.check(), /takes no writes/)
})
