import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { newestMigration } from '../../src/platform/database/migrate.ts'
import { runHere } from '../support/command.ts'
import { tempDatabase } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import { createPostgresDatabase, withClient } from '../support/postgres.ts'

type Kind = 'sqlite' | 'postgres'

/** Runs the statements on a new or the given database. Returns what is in it then: bytes and files, or tables. */
async function databaseWith(kind: Kind, statements: string, given?: string) {
  if (kind === 'sqlite') {
    const url = tempDatabase()
    const path = url.slice('sqlite:'.length)
    const database = new DatabaseSync(path)
    database.exec(statements)
    database.close()
    const contents = async () => [
      readdirSync(dirname(path)),
      createHash('sha256').update(readFileSync(path)).digest('hex'),
    ]
    return { url, contents }
  }
  const url = given ?? (await createPostgresDatabase())
  const run = (sql: string) => withClient(url, client => client.query(sql))
  await run(statements)
  const contents = async () => (await run(COLUMNS)).rows
  return { url, contents }
}

const COLUMNS = `select table_schema, table_name, column_name, data_type from information_schema.columns
  where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2, 3`

/** The statements of these frameworks, as their tools make them. */
function foreignOn(kind: Kind) {
  const id = kind === 'sqlite' ? 'integer primary key autoincrement' : 'bigserial primary key'
  const laravel = `create table "migrations" ("id" ${id} not null, "migration" varchar(255) not null, "batch" integer not null);`
  return {
    Laravel: `${laravel}
      create table "users" ("id" ${id} not null, "email" varchar(255) not null);
      insert into migrations (migration, batch) values ('0001_01_01_000000_create_users_table', 1);`,
    'Laravel, before its first migration': laravel,
    TypeORM: `create table "migrations" ("id" ${id} not null, "timestamp" bigint not null, "name" varchar not null);
      insert into migrations (timestamp, name) values (1700000000000, 'Init1700000000000')`,
    // On SQLite Rails uses a write-ahead log.
    Rails: `${kind === 'sqlite' ? 'pragma journal_mode = wal;' : ''}
      create table "schema_migrations" ("version" varchar not null primary key);
      create table "ar_internal_metadata" ("key" varchar not null primary key, "value" varchar)`,
    'a program whose table of migrations has the same columns': `create table migrations (number integer primary key, name text not null);
      insert into migrations values (1, '0001-users.sql'), (2, '0002-payments.sql')`,
    'a program that has payments and no migrations':
      'create table payments (payment_id text primary key)',
  }
}

/** Empties a database of PostgreSQL, in a tenth of the time that a new one takes. */
const EMPTIED = 'drop schema public cascade; create schema public;'

async function startProblem(DATABASE_URL: string): Promise<Error | undefined> {
  const config = readConfig({ DATABASE_URL, PORT: '0' })
  try {
    await (await startFarthing({ config })).close()
    return undefined
  } catch (error) {
    return error as Error
  }
}

for (const kind of ['sqlite', 'postgres'] as const)
  for (const [program, statements] of Object.entries(foreignOn(kind)))
    test(`nothing is written into a database of ${program}: the service and its commands refuse it in one sentence (${kind})`, async () => {
      const { url, contents } = await databaseWith(kind, statements)
      const before = await contents()
      const sentence =
        kind === 'sqlite'
          ? /^.+farthing\.db is the database of another program, which has the table \w+: set DATABASE_URL to a database for Farthing alone, or unset it$/
          : /^the PostgreSQL database \w+ is that of another program, which has the table \w+ in the schema public: set DATABASE_URL to a database for Farthing alone, or unset it$/
      assert.match((await startProblem(url))?.message ?? '', sentence)
      assert.deepEqual(await contents(), before)
      // All commands ask as the service does, so one program is enough for them.
      const lines =
        program === 'Laravel'
          ? ['keys list', 'keys create --create', 'seed --payments 1 --create', 'open', 'doctor']
          : []
      if (kind === 'sqlite' && lines.length > 0) lines.push('backup copy.db')
      for (const line of lines) {
        const args = line.split(' ')
        const env = { DATABASE_URL: url, PORT: '0', FARTHING_URL: 'http://127.0.0.1:1' }
        const { code, stdout, stderr } = await runHere({ args, env })
        assert.notEqual(code, 0, line)
        if (line === 'doctor') assert.match(stdout, /(of|that of) another program/)
        else assert.match(stderr.replace('farthing: ', '').trimEnd(), sentence, line)
        assert.deepEqual(await contents(), before, line)
      }
    })

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`a database of any earlier version is known, and upgraded (${kind})`, async () => {
    const folder = new URL('../../src/platform/database/migrations/', import.meta.url)
    const steps = readdirSync(folder).sort()
    const table = 'create table migrations (number integer primary key, name text not null);'
    let url: string | undefined
    for (let version = 0; version < steps.length; version++) {
      const done = steps.slice(0, version).map((name, i) => {
        const sql = readFileSync(new URL(name, folder), 'utf8')
        const text = kind === 'sqlite' ? sql.replaceAll(' collate "C"', '') : sql
        return `${text.trimEnd()}\ninsert into migrations values (${i + 1}, '${name}');`
      })
      const emptied = url && kind === 'postgres' ? [EMPTIED] : []
      const made = await databaseWith(kind, [...emptied, table, ...done].join('\n'), url)
      url = made.url
      await (await openAt(url)).close()
    }
    assert.equal(steps.length, newestMigration())
  })

  test(`a database in which another program made tables later is still Farthing’s (${kind})`, async () => {
    const { url } = await databaseWith(kind, 'select 1')
    assert.equal(await startProblem(url), undefined)
    const { Rails } = foreignOn(kind)
    if (kind === 'sqlite') new DatabaseSync(url.slice('sqlite:'.length)).exec(Rails)
    else await withClient(url, client => client.query(Rails))
    assert.equal(await startProblem(url), undefined)
  })
}

const inSchema = (url: string, path: string) =>
  `${url}?options=${encodeURIComponent(`-c search_path=${path}`)}`

test('tables of extensions are not those of another program', async () => {
  const { url } = await databaseWith(
    'postgres',
    'create table spatial_ref_sys (srid integer); alter extension plpgsql add table spatial_ref_sys',
  )
  assert.equal(await startProblem(url), undefined)
})

test('the tables count that are in the schema in which Farthing would make its own', async () => {
  const { url, contents } = await databaseWith(
    'postgres',
    `${foreignOn('postgres').Laravel} create schema farthing; create schema "shop's"; create table "shop's".orders (id integer)`,
  )
  const before = (await contents()).filter(({ table_schema }) => table_schema === 'public')
  assert.match(
    (await startProblem(inSchema(url, '"shop\'s",farthing')))?.message ?? '',
    /which has the table orders in the schema shop's/,
  )
  assert.equal(await startProblem(inSchema(url, 'nowhere,farthing,public')), undefined)
  const now: { table_schema: string }[] = await contents()
  const others = now.filter(({ table_schema }) => table_schema === 'public')
  assert.deepEqual(others, before)
  assert.ok(now.some(({ table_schema }) => table_schema === 'farthing'))
})
