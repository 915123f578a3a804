import { listShipped, ROOT, readShipped } from '../../core/files.ts'
import type { Database, DatabaseWithExec, Statement } from '../../core/ports.ts'

const FOLDER = new URL('platform/database/migrations/', ROOT)

const TABLE = `create table if not exists migrations (number integer primary key, name text not null)`

/** The name of the first step. Every version has written it into its first row, and no other program does. */
export const FIRST_MIGRATION = '0001-payments.sql'

export class NewerDatabaseError extends Error {}

/**
 * Migrates the database to the version of this code in one transaction, which first writes the number of its first step.
 * If two instances start at once, one of them waits there and then finds that the steps are done.
 * Throws NewerDatabaseError if a newer Farthing has migrated the database.
 */
export async function migrate(database: DatabaseWithExec): Promise<void> {
  await createTable(database)
  const steps = readMigrations()
  const newest = steps.at(-1)?.number ?? 0
  while (true) {
    const done = new Set(await doneSteps(database))
    const unknown = [...done].find(number => number > newest)
    if (unknown !== undefined)
      throw new NewerDatabaseError(
        `the database has version ${unknown}, from a newer Farthing; this Farthing knows versions up to ${newest}`,
      )
    const missing = steps.filter(({ number }) => !done.has(number))
    if (missing.length === 0) return
    await database.write(missing.flatMap(statementsOf))
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

async function doneSteps(database: Database): Promise<number[]> {
  const rows = await database.query<{ number: number }>('select number from migrations')
  return rows.map(row => row.number)
}

/** On PostgreSQL one of two concurrent `create table if not exists` may fail. The table then exists. */
async function createTable(database: DatabaseWithExec): Promise<void> {
  try {
    await database.exec(TABLE)
  } catch (error) {
    await doneSteps(database).catch(() => {
      throw error
    })
  }
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
