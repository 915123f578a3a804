import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Database } from '../../src/core/ports.ts'
import { insertPayment } from '../../src/pay/payments/store.ts'
import { fold, groupOf } from '../../src/platform/database/fold.ts'
import { migrate, newestMigration } from '../../src/platform/database/migrate.ts'
import { openPostgres } from '../../src/platform/database/postgres.ts'
import { isMountedAlone } from '../../src/platform/database/sqlite/file.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { runHere } from '../support/command.ts'
import { tempFolder } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import type { InStep } from '../support/open-in-step.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { runProcess } from '../support/process.ts'
import { samplePayment } from '../support/sample-payment.ts'

/** Databases to close at the end. One that a failed test left open would keep the process alive. */
const opened: Database[] = []
after(() => Promise.allSettled(opened.map(each => each.close())))

async function open(url: string): Promise<Database> {
  const made = await openAt(url)
  opened.push(made)
  return made
}

const folder = tempFolder()
let files = 0
const newFile = () => join(folder, `${++files}`, 'below', 'farthing.db')
const newUrl = async (kind: 'sqlite' | 'postgres') =>
  kind === 'sqlite' ? `sqlite:${newFile()}` : createPostgresDatabase()

const SECOND_STEP = new URL(
  '../../src/platform/database/migrations/0002-fewer-reference-groups.sql',
  import.meta.url,
)

const INSERT_KEY = 'insert into api_keys (key_id, account, hash, created) values ($1, $1, $1, 1)'
const keyNamed = (name: string) => [{ sql: INSERT_KEY, values: [name] }]

const steps = (database: Database) =>
  database.query<{ number: number; name: string }>(
    'select number, name from migrations order by number',
  )

test('Several threads can open a new SQLite file in a new folder at the same moment', async () => {
  const threads = 3
  const paths = Array.from({ length: 8 }, newFile)
  const inStep = { paths, threads, gate: new Int32Array(new SharedArrayBuffer(8)) } satisfies InStep
  const problems = await Promise.all(
    Array.from({ length: threads }, async () => {
      const thread = new Worker(new URL('../support/open-in-step.ts', import.meta.url), {
        workerData: inStep,
      })
      return (await once(thread, 'message')).flat()
    }),
  )
  assert.deepEqual(problems.flat(), [])
})

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`A database is migrated when it is empty, and left unchanged when it was migrated before (${kind})`, async () => {
    const url = await newUrl(kind)
    const first = await open(url)
    const made = await steps(first)
    assert.equal(made.at(-1)?.number, newestMigration())
    await first.write(keyNamed('kept'))
    await first.close()
    const again = await open(url)
    assert.deepEqual(await steps(again), made)
    assert.equal((await again.query('select * from api_keys')).length, 1)
  })

  test(`The second step of the migration leaves eight of the 32 groups of references (${kind})`, async () => {
    const database = await open(await newUrl(kind))
    const payment = samplePayment('created')
    await database.write([
      insertPayment(payment),
      { sql: 'update payments set reference_group = reference_group + 24', values: [] },
      { sql: readFileSync(SECOND_STEP, 'utf8'), values: [] },
    ])
    const group = groupOf(fold(payment.given.reference))
    const sql = 'select payment_id from payments where reference_group = $1'
    assert.deepEqual(await database.query(sql, [group]), [{ payment_id: payment.payment_id }])
  })

  test(`A database whose next step of the migration fails is not opened, and keeps its version (${kind})`, async () => {
    const url = await newUrl(kind)
    const old = await open(url)
    await old.write([{ sql: 'delete from migrations where number > 1', values: [] }])
    await old.close()
    await assert.rejects(open(url))
  })

  test(`A database is migrated once by instances that start at the same moment (${kind})`, async () => {
    const url = await newUrl(kind)
    const all = await Promise.all([open(url), open(url), open(url), open(url)])
    for (const each of all) await each.check()
    const told: number[] = []
    await migrate(all[0], (await steps(all[0])).length - 1, from => told.push(from))
    assert.deepEqual(told, [], 'only the instance that migrated it says so')
  })

  test(`A database that a newer Farthing has migrated is refused (${kind})`, async () => {
    const url = await newUrl(kind)
    const database = await open(url)
    const future = `insert into migrations (number, name) values (9999, 'from the future')`
    await database.write([{ sql: future, values: [] }])
    await database.close()
    await assert.rejects(open(url), /version 9999.*newer/)
  })
}

test('A database file uses WAL and synchronous FULL, so that a power cut loses nothing', async () => {
  const file = newFile()
  const database = await open(`sqlite:${file}`)
  const read = async (name: string) => {
    const [row] = await database.query<Record<string, unknown>>(`pragma ${name}`)
    return Object.values(row ?? {})[0]
  }
  assert.equal(await read('journal_mode'), 'wal')
  assert.equal(await read('synchronous'), 2)
  assert.equal(await read('foreign_keys'), 1)
  const other = new DatabaseSync(file)
  assert.equal(other.prepare('pragma journal_mode').get()?.journal_mode, 'wal')
  other.close()
})

test('A database file has only -wal and -shm files beside it while it is open, and none afterwards', async () => {
  const file = newFile()
  const database = await open(`sqlite:${file}`)
  const beside = () => readdirSync(dirname(file)).sort()
  assert.deepEqual(beside(), ['farthing.db', 'farthing.db-shm', 'farthing.db-wal'])
  await database.close()
  assert.deepEqual(beside(), ['farthing.db'])
})

test('A database in memory is not shared: every connection gets an empty one', async () => {
  const [memory, another] = [await open('sqlite::memory:'), await open('sqlite::memory:')]
  await memory.write(keyNamed('a'))
  assert.equal((await another.query('select * from api_keys')).length, 0)
})

test('A database is closed after the writes that were under way', async () => {
  for (const url of [`sqlite:${newFile()}`, 'sqlite::memory:']) {
    const database = await open(url)
    const writes = Array.from({ length: 600 }, (_, i) => database.write(keyNamed(`${i}`)))
    await database.close()
    assert.deepEqual(await Promise.all(writes), Array(600).fill(true))
  }
})

test('A closed database rejects writes, and does not report an unknown outcome', async () => {
  for (const path of [join(folder, 'closed.db'), ':memory:']) {
    const told: unknown[] = []
    const database = openSqlite({ path, onUnknownOutcome: error => told.push(error) })
    await database.write([{ sql: 'create table a (b integer)', values: [] }])
    const closing = database.close()
    const late = [{ sql: 'insert into a values (1)', values: [] }]
    await assert.rejects(database.write(late), /closed/)
    await closing
    await assert.rejects(database.write(late), /closed/)
    assert.deepEqual(told, [])
  }
})

test('A link to a database file that is missing makes the file where it leads', async () => {
  const [path, target] = [join(folder, 'link.db'), join(folder, 'target.db')]
  symlinkSync(target, path)
  const database = openSqlite({ path, onUnknownOutcome: () => {} })
  await database.write([{ sql: 'create table a (b integer)', values: [] }])
  await database.close()
  assert.ok(existsSync(target))
})

test('A pipe or a device as a database is refused in one line, by the service and by doctor', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const sentence = / is a pipe, a socket or a device/
  const started = await runProcess({ env: { DATABASE_URL: `sqlite:${pipe}`, PORT: '0' } })
  assert.equal(started.code, 1)
  assert.match(started.stderr, /^farthing: [^\n]+ is a pipe, a socket or a device[^\n]*\n$/)
  for (const path of [pipe, '/dev/zero']) {
    const env = { DATABASE_URL: `sqlite:${path}` }
    await assert.rejects(open(env.DATABASE_URL), sentence)
    const { code, stdout } = await runHere({ args: ['doctor'], env })
    assert.equal(code, 3)
    assert.match(stdout, sentence)
  }
})

test('A file that is mounted without its folder is found among the mounts of the machine', () => {
  const path = join(folder, 'a b.db')
  writeFileSync(path, '')
  const mounts = (place: string) => `36 35 98:0 / / rw - ext4 /dev/sda1 rw
812 36 8:1 /srv/farthing.db ${place.replaceAll(' ', '\\040')} rw,relatime master:1 - ext4 /dev/sda1 rw
`
  assert.equal(isMountedAlone(path, mounts(path)), true)
  assert.equal(isMountedAlone(path, mounts(folder)), false)
  assert.equal(isMountedAlone(join(folder, 'missing.db'), mounts(path)), false)
  assert.equal(isMountedAlone(path), false)
  assert.ok(!existsSync('/proc/self/mountinfo') || isMountedAlone('/proc'), 'the real list')
})

test('A folder as a database is refused', async () => {
  await assert.rejects(open(`sqlite:${folder}`))
})

test('On PostgreSQL the record of requests is an unlogged table, also when several instances start at once and in an older database', async t => {
  const url = await createPostgresDatabase()
  const admin = openPostgres({ url, onConnectionError: assert.ifError })
  t.after(() => admin.close())
  const sql = `select string_agg(format('%s %s', relname, relpersistence), ', ' order by relname) as tables
    from pg_class where relname in ('exchanges', 'payments')`
  const expected = [{ tables: 'exchanges u, payments p' }]
  for (const database of await Promise.all([open(url), open(url), open(url)]))
    await database.close()
  assert.deepEqual(await admin.query(sql), expected)
  await admin.query('alter table exchanges set logged')
  await (await open(url)).close()
  assert.deepEqual(await admin.query(sql), expected)
})

test('A PostgreSQL database whose settings would lose writes or refuse texts is refused', async t => {
  const admin = openPostgres({
    url: await createPostgresDatabase(),
    onConnectionError: assert.ifError,
  })
  t.after(() => admin.close())
  const hasty = await createPostgresDatabase()
  const name = new URL(hasty).pathname.slice(1)
  await admin.query(`alter database ${name} set synchronous_commit = off`)
  await assert.rejects(open(hasty), /synchronous_commit/)

  const narrow = `narrow_${name}`
  await admin.query(`create database ${narrow} encoding 'LATIN1' locale 'C' template template0`)
  await assert.rejects(open(hasty.replace(name, narrow)), /must be UTF8: it is LATIN1/)
})

test('A PostgreSQL older than 14 is refused in one sentence, and another database with its protocol is not judged', async t => {
  const url = await createPostgresDatabase()
  const admin = openPostgres({ url, onConnectionError: assert.ifError })
  t.after(() => admin.close())
  const { pathname } = new URL(url)
  await admin.query('create schema pretended')
  await admin.query(
    `alter database ${pathname.slice(1)} set search_path = pretended, pg_catalog, public`,
  )
  const pretend = (version: string) =>
    admin.query(
      `create or replace function pretended.version() returns text language sql as $$ select '${version}' $$`,
    )

  await pretend('PostgreSQL 13.22 on x86_64-pc-linux-gnu')
  const message = 'Farthing needs PostgreSQL 14 or newer: this one is 13.22'
  await assert.rejects(open(url), { message })
  for (const version of ['PostgreSQL 14.0 on x86_64-pc-linux-gnu', 'PostgreSQL 11.2-YB-2.20']) {
    await pretend(version)
    await (await open(url)).close()
  }
})
