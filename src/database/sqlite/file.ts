import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LONGEST_WAIT } from './connection.ts'

/** Readable by the owner only: the database holds the signing keys of webhooks. */
export const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/** Throws for a folder, and for a database that has tables but not Farthing's table of migrations. */
export function refuseForeign(path: string): void {
  if (statSync(path).isDirectory())
    throw new Error(
      `${path} is a folder: name a file in it, such as sqlite:${join(path, 'farthing.db')}`,
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

/** Creates the file and its folders if they are missing. SQLite reports problems with a file that exists. */
export function makeFile(path: string): void {
  makeFolder(dirname(path))
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

/** `recursive` of mkdirSync loops for ever where mkdir reports ENOENT although the parent exists, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: OWNER_ONLY_FOLDER })
  } catch (error) {
    // Another process may have created it at the same moment.
    if (!existsSync(path)) throw error
  }
}
