import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { DatabaseAddress } from '../../core/config.ts'
import { FIRST_MIGRATION, newestMigration } from './migrate.ts'
import { LONGEST_WAIT } from './sqlite/connection.ts'
import { refuseSpecial } from './sqlite/file.ts'

type Row = Record<string, unknown>
type Query = (sql: string) => Row[] | Promise<Row[]>

const KEY = 'select key_id from api_keys where hash = $1 and revoked is null'

/** The columns of each table; on PostgreSQL of the schema for new tables, without those of extensions. */
const COLUMNS = {
  sqlite: `select tables.name as "table", columns.name as "column"
    from sqlite_schema tables, pragma_table_info(tables.name) columns
    where tables.type = 'table' and tables.name not like 'sqlite^_%' escape '^'`,
  postgres: `select tables.relname as "table", columns.attname as "column", current_schema() as "schema",
      current_database() as "database"
    from pg_class tables
      left join pg_attribute columns
        on columns.attrelid = tables.oid and columns.attnum > 0 and not columns.attisdropped
    where tables.relkind in ('r', 'p', 'f')
      and tables.relnamespace = (select oid from pg_namespace where nspname = current_schema())
      and not exists (
        select 1 from pg_depend
        where classid = 'pg_class'::regclass and objid = tables.oid and deptype = 'e'
      )`,
}

/** The newest migration, 0 without tables. Throws if `place` has tables but not the first migration of Farthing. */
async function versionIn(query: Query, kind: DatabaseAddress['kind'], place: string) {
  const columns = await query(COLUMNS[kind])
  const [first] = columns
  const names = columns.filter(({ table }) => table === 'migrations').map(({ column }) => column)
  // The rows are read after the tables: another instance writes both in one transaction.
  const steps =
    names.sort().join() === 'name,number' ? await query('select number, name from migrations') : []
  const isOwn = steps.some(({ number, name }) => number === 1 && name === FIRST_MIGRATION)
  // Earlier versions made this table first, and then all others in one transaction.
  const isBegun = steps.length === 0 && names.length === 2 && columns.length === 2
  if (first && !isOwn && !isBegun) throw new Error(foreign(first, place))
  return steps.reduce((newest, { number }) => Math.max(newest, Number(number)), 0)
}

function foreign({ table, schema, database }: Row, place: string): string {
  const where = schema === undefined ? '' : ` in the schema ${schema}`
  const name = database === undefined ? `${place} is the database` : `${place} ${database} is that`
  return `${name} of another program, which has the table ${table}${where}: set DATABASE_URL to a database for Farthing alone, or unset it`
}

/** The newest migration of a file. Throws without a file, and for the database of another program. Reads only. */
export const refuseForeignFile = (path: string): Promise<number> =>
  inFile(path, database => versionInFile(database, path))

export const refuseForeignSchema = (query: Query): Promise<number> =>
  versionIn(query, 'postgres', 'the PostgreSQL database')

const versionInFile = (database: DatabaseSync, path: string): Promise<number> =>
  versionIn(sql => database.prepare(sql).all(), 'sqlite', path)

async function inFile<Result>(path: string, look: (database: DatabaseSync) => Promise<Result>) {
  refuseSpecial(path)
  // A connection that may only read leaves the files of a write-ahead log in place. Any other removes them, after
  // copying the changes of a process that has died into the file.
  const readOnly = [`${path}-wal`, `${path}-journal`].some(beside => existsSync(beside))
  try {
    using database = new DatabaseSync(path, { readOnly, timeout: LONGEST_WAIT })
    return await look(database)
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path }) : error
  }
}

/** Reads only. `has`: its newest migration; `knows`: ours; `walBytes`: size of SQLite's log. Throws as versionIn. */
export async function inspectDatabase(address: DatabaseAddress, keyHash: string) {
  const knows = newestMigration()
  if (address.kind === 'sqlite')
    return inFile(address.path, async database => {
      const has = await versionInFile(database, address.path)
      const hasKey = has > 0 && database.prepare(KEY).get({ $1: keyHash }) !== undefined
      const log = statSync(`${address.path}-wal`, { throwIfNoEntry: false })
      return { has, knows, hasKey, walBytes: log?.size ?? 0 }
    })
  const { openPostgres } = await import('./postgres.ts')
  const database = openPostgres({ url: address.url, onConnectionError() {}, pooled: true })
  try {
    const has = await refuseForeignSchema(database.query)
    const hasKey = has > 0 && (await database.query(KEY, [keyHash])).length > 0
    return { has, knows, hasKey, walBytes: 0 }
  } finally {
    await database.close()
  }
}
