import { listShipped, ROOT, readShipped } from '../../core/files.ts'
import type { Database, Statement } from '../../core/ports.ts'

const FOLDER = new URL('platform/database/migrations/', ROOT)

const TABLE = `create table if not exists migrations (number integer primary key, name text not null)`

/** The name of the first step. Every version has written it into its first row, and no other program does. */
export const FIRST_MIGRATION = '0001-payments.sql'

export type OnMigrated = (from: number, to: number) => void

export class NewerDatabaseError extends Error {}

/**
 * Migrates in one transaction, which first writes the number of its first step. If two instances start at once, one
 * waits there and then finds that the steps are done. Throws NewerDatabaseError for the database of a newer Farthing.
 * `onMigrated` is called if this instance has migrated a database that existed before.
 */
export async function migrate(database: Database, has: number, onMigrated?: OnMigrated) {
  const steps = readMigrations()
  for (let done = has; done !== steps.length; done = await newestStep(database)) {
    if (done > steps.length)
      throw new NewerDatabaseError(
        `the database has version ${done}, from a newer Farthing; this Farthing knows versions up to ${steps.length}`,
      )
    const table = done === 0 ? [{ sql: TABLE, values: [] }] : []
    try {
      const isOwn = await database.write([...table, ...steps.slice(done).flatMap(statementsOf)])
      if (isOwn && done > 0) onMigrated?.(done, steps.length)
    } catch (error) {
      // On PostgreSQL one of two concurrent `create table if not exists` may fail: the other instance has migrated.
      if ((await newestStep(database).catch(() => done)) <= done) throw error
    }
  }
}

type Migration = { number: number; name: string; sql: string }

/** Throws if a number is missing or used twice. Of two steps with one number the second would never run. */
function readMigrations(): Migration[] {
  const names = listShipped(FOLDER).filter(name => name.endsWith('.sql'))
  return names.sort().map((name, i) => {
    const number = Number.parseInt(name, 10)
    if (number !== i + 1) throw new Error(`the migration ${name} must have the number ${i + 1}`)
    return { number, name, sql: readShipped(new URL(name, FOLDER)).toString() }
  })
}

export const newestMigration = (): number => readMigrations().at(-1)?.number ?? 0

async function newestStep(database: Database): Promise<number> {
  const [row] = await database.query<{ newest: number }>(
    'select max(number) as newest from migrations',
  )
  return row?.newest ?? 0
}

function statementsOf({ number, name, sql }: Migration): Statement[] {
  const statements = sql
    .replace(/--.*$/gm, '')
    .split(';')
    .map(text => text.trim())
    .filter(Boolean)
  return [
    {
      sql: 'insert into migrations (number, name) values ($1, $2) on conflict do nothing',
      values: [number, name],
      expect: 1,
    },
    ...statements.map(text => ({ sql: text, values: [] })),
  ]
}
