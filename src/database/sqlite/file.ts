import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LONGEST_WAIT } from './connection.ts'

/** For its owner only: the database holds the webhooks' signing keys. */
export const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/** Throws for a folder, and for a database that has tables and not the one in which Farthing notes what it has made. */
export function refuseForeign(path: string): void {
  if (statSync(path).isDirectory())
    throw new Error(
      `${path} is a folder: name a file in it, as in sqlite:${join(path, 'farthing.db')}`,
    )
  const database = new DatabaseSync(path, { readOnly: true, timeout: LONGEST_WAIT })
  try {
    const tables = database.prepare('select name from sqlite_schema').all()
    if (tables.length > 0 && !tables.some(({ name }) => name === 'migrations'))
      throw new Error(
        `${path} is the database of another program: set DATABASE_URL to another file`,
      )
  } finally {
    database.close()
  }
}

/** Makes the file and its folders where they are missing. What is wrong with a file that is there, SQLite will say. */
export function makeFile(path: string): void {
  makeFolder(dirname(path))
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

/** mkdirSync's own `recursive` never ends where a folder is refused as if its parent were missing, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: OWNER_ONLY_FOLDER })
  } catch (error) {
    // Another process that is starting was faster.
    if (!existsSync(path)) throw error
  }
}
