import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { POOL_OF_ACCOUNT, POOL_SIZE } from '../../src/core/budgets.ts'
import { workFor } from '../../src/core/guests.ts'
import { openPostgres } from '../../src/platform/database/postgres.ts'
import { openAt } from '../support/open-database.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { startRelay } from '../support/relay.ts'

// First, because a process names only its first 200 statements.
test('behind a pooler, which is noticed, no statement is prepared with a name', async () => {
  const url = await createPostgresDatabase()
  const relay = await startRelay(Number(new URL(url).port), withAnotherPid)
  const pooled = Object.assign(new URL(url), { port: String(relay.port) }).href
  const noticed: boolean[] = []
  const prepared: number[] = []
  for (const address of [url, pooled]) {
    const probe = openPostgres({ url: address, onConnectionError: assert.ifError, pooled: true })
    noticed.push(await probe.isPooled())
    await probe.close()
    const opened = await openAt(address)
    const count = 'select cast(count(*) as integer) as named from pg_prepared_statements'
    await opened.query(count)
    prepared.push((await opened.query<{ named: number }>(count))[0]?.named ?? -1)
    await opened.close()
  }
  await relay.close()
  assert.deepEqual(noticed, [false, true])
  assert.deepEqual(prepared, [1, 0])
})

async function opened(t: TestContext, at?: string) {
  const url = at ?? (await createPostgresDatabase())
  const database = openPostgres({ url, onConnectionError: assert.ifError })
  t.after(() => database.close())
  return database
}

test('a connection that breaks while idle is reported once, and replaced', async t => {
  const url = await createPostgresDatabase()
  const reported: string[] = []
  const database = openPostgres({ url, onConnectionError: error => reported.push(error.message) })
  t.after(() => database.close())
  const other = await opened(t, url)
  const pid = async () =>
    (await database.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid ?? 0

  const broken = await pid()
  await other.query('select pg_terminate_backend($1::int)', [broken])
  while (reported.length === 0) await setImmediate()
  assert.notEqual(await pid(), broken)
  assert.deepEqual(reported, ['terminating connection due to administrator command'])
})

test('both of two writes in a deadlock succeed: the one that the server rolls back is retried', async t => {
  const database = await opened(t)
  await database.query('create table a (b integer primary key, c integer)')
  await database.query('insert into a values (1, 0), (2, 0)')
  const raise = (b: number) => ({ sql: 'update a set c = c + 1 where b = $1', values: [b] })
  const sleep = { sql: 'select pg_sleep(0.2)', values: [] }
  const written = await Promise.all([
    database.write([raise(1), sleep, raise(2)]),
    database.write([raise(2), sleep, raise(1)]),
  ])
  assert.deepEqual(written, [true, true])
  assert.deepEqual(await database.query('select c from a'), [{ c: 2 }, { c: 2 }])
})

test('a read-only server is not ready', async t => {
  const database = await opened(t)
  await database.check()
  await database.query('set default_transaction_read_only = on')
  await assert.rejects(database.check(), /read-only/)
})

/** Fails like a statement that an administrator or a timeout cancels. */
const CANCELLED = 'do $$ begin raise query_canceled; end $$'

test('a write whose transaction does not begin writes nothing, not even its first statement', async t => {
  const database = await opened(t)
  await database.query('create table a (b integer primary key)')
  const insert = (b: number) => ({ sql: 'insert into a values ($1)', values: [b] })
  const { query } = pg.Client.prototype
  const cancelled = t.mock.method(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, ...args: unknown[]) {
      return Reflect.apply(query, this, args[0] === 'begin' ? [CANCELLED] : args)
    },
  )
  await assert.rejects(database.write([insert(1), insert(2)]), { code: '57014' })
  cancelled.mock.restore()
  assert.deepEqual(await database.query('select b from a'), [])
  assert.equal(await database.write([insert(1), insert(2)]), true)
  assert.deepEqual(await database.query('select b from a order by b'), [{ b: 1 }, { b: 2 }])
})

/** `undone(n)` fails with a serialization failure until it has been called `n` times. */
const UNDONE = `
  create function undone(n integer) returns integer language plpgsql as $$
  begin
    if nextval('calls') < n then raise sqlstate '40001'; end if;
    return lastval();
  end $$`

test('a statement with a serialization failure is tried up to five times', async t => {
  const database = await opened(t)
  await database.query('create sequence calls')
  await database.query(UNDONE)
  await database.query('create table a (b integer)')
  const restart = () => database.query('alter sequence calls restart')
  const insert = (n: number) => ({ sql: 'insert into a select undone($1)', values: [n] })

  assert.deepEqual(await database.query('select undone($1) as calls', [3]), [{ calls: 3 }])
  await restart()
  assert.equal(await database.write([insert(2)]), true)
  await restart()
  assert.equal(await database.write([insert(3), insert(1)]), true)
  await restart()
  assert.equal(await database.write([insert(5)]), true)
  await restart()
  await assert.rejects(database.write([insert(6)]), { code: '40001' })
  assert.deepEqual(
    await database.query('select b from a'),
    [2, 3, 4, 5].map(b => ({ b })),
  )
})

test('a connection keeps at most 200 plans', async t => {
  const database = await opened(t)
  for (let i = 0; i < 250; i++)
    assert.deepEqual(await database.query(`select $1::int + ${i} as sum`, [1]), [{ sum: i + 1 }])
  const [{ plans } = { plans: 0 }] = await database.query<{ plans: number }>(
    'select count(*) as plans from pg_prepared_statements',
  )
  assert.ok(plans > 0 && plans <= 200, `${plans} plans`)
})

test('an account uses at most 8 of the 10 connections, so that a read of another does not wait for it', async t => {
  const url = await createPostgresDatabase()
  const holder = new pg.Client(url)
  await holder.connect()
  t.after(() => holder.end())
  // On a slow machine the table is held for longer than a statement may take.
  const database = openPostgres({ url, timeouts: false, onConnectionError: assert.ifError })
  t.after(() => database.close())
  await database.query('create table held (a integer)')
  await holder.query('begin; lock table held')
  const greedy = Array.from({ length: POOL_SIZE + 2 }, () =>
    workFor({ owner: 'greedy' }, () => database.query('select a from held')),
  )
  const waiting = `select cast(count(*) as integer) as held from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  // A transaction, such as that of the holder, sees only connections that were there at its first look.
  const held = async () => {
    const read = () => database.query<{ held: number }>(waiting)
    const [row] = await workFor({ owner: 'stranger' }, read)
    return row?.held ?? 0
  }
  while ((await held()) < POOL_OF_ACCOUNT) await setImmediate()
  assert.equal(await held(), POOL_OF_ACCOUNT)
  await holder.query('rollback')
  await Promise.all(greedy)
})

/** The address of a database for a role that gets this number of connections and may use a table `a`. */
async function addressWithLimit(t: TestContext, connections: number): Promise<string> {
  const url = new URL(await createPostgresDatabase())
  const role = url.pathname.slice(1)
  const owner = openPostgres({ url: url.href, onConnectionError: assert.ifError })
  await owner.query('create table a (b integer primary key)')
  await owner.query(`create role ${role} login password 'few' connection limit ${connections}`)
  await owner.query(`grant all on a to ${role}`)
  t.after(async () => {
    await owner.query(`drop owned by ${role}`)
    await owner.query(`drop role ${role}`)
    await owner.close()
  })
  return Object.assign(url, { username: role, password: 'few' }).href
}

test('a server that gives fewer connections than the pool wants fails no read and no write: they wait for those that are there', async t => {
  const few = await opened(t, await addressWithLimit(t, 3))
  const insert = (b: number) => ({ sql: 'insert into a values ($1)', values: [b] })
  const work = Array.from({ length: 60 }, (_, i) =>
    i % 3 === 0 ? few.write([insert(2 * i), insert(2 * i + 1)]) : few.query('select b from a'),
  )
  assert.equal((await Promise.all(work)).length, 60)
  assert.equal((await few.query('select b from a')).length, 40)
})

test('a server without any connection left is waited for, and then the error says so', async t => {
  const url = await addressWithLimit(t, 1)
  const first = new pg.Client(url) // a pool would close it after ten seconds
  const second = await opened(t, url)
  await first.connect()
  await assert.rejects(second.query('select 1 as one'), { code: '53300' })
  const waiting = second.query('select 1 as one')
  await first.end()
  assert.deepEqual(await waiting, [{ one: 1 }])
})

/** A pooler tells its clients a process number of its own. */
function withAnotherPid(bytes: Buffer): Buffer {
  const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12])) // BackendKeyData
  if (at >= 0) bytes.writeUInt32BE(bytes.readUInt32BE(at + 5) + 1, at + 5)
  return bytes
}
