import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import type { Config } from '../config.ts'
import {
  extendedCode,
  LONGEST_WAIT,
  primaryCode,
  SQLITE,
  SQLITE_IOERR_WRITE,
} from '../database/sqlite/connection.ts'
import { OWNER_ONLY, refuseForeign, refuseMemory, requireFile } from '../database/sqlite/file.ts'

export const BACKUP_HELP = `Usage:
  farthing backup FILE   copies the SQLite database that DATABASE_URL names to a new file, and checks the copy

The service may be running. To restore, stop it, and put the file where DATABASE_URL points: into a
folder where no file of an older database is left, -wal and -shm included. PostgreSQL has pg_dump.
`

/** All pages in one step: in several, each write of the service would begin the copy anew. */
const ALL_PAGES = 2 ** 31 - 1

/** Runs `farthing backup` and answers the exit code; throws what kept it from succeeding. */
export async function backupCommand(
  [file, ...more]: string[],
  { database }: Config,
  print: (text: string) => number,
): Promise<number> {
  if (!file || more.length > 0)
    throw new Error('usage: farthing backup FILE (farthing backup --help)')
  if (database.kind !== 'sqlite')
    throw new Error('backup is for SQLite files: for PostgreSQL use pg_dump')
  refuseMemory(database)
  requireFile(database)
  if (existsSync(file)) throw new Error(`${file} is there already: name a new file`)
  refuseForeign(database.path)
  // Of a name that begins with "file:" SQLite would make another file; a whole path does not.
  const payments = await copyChecked(database.path, resolve(file))
  return print(
    `copied the database to ${file}, with ${payments} payment${payments === 1 ? '' : 's'}`,
  )
}

/**
 * The copy is whole and on disk before it gets its name. It is the database at one moment, with
 * everything that was acknowledged before it. Answers how many payments it has.
 */
async function copyChecked(path: string, file: string): Promise<number> {
  const unchecked = `${file}.part`
  makeEmpty(unchecked)
  let payments: number
  try {
    await copy(path, unchecked)
    payments = check(unchecked)
    renameSync(unchecked, file)
  } finally {
    for (const left of [unchecked, `${unchecked}-journal`]) rmSync(left, { force: true })
  }
  const folder = openSync(dirname(file), 'r')
  fsyncSync(folder)
  closeSync(folder)
  return payments
}

async function copy(path: string, file: string): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true, timeout: LONGEST_WAIT })
  try {
    await backup(source, file, { rate: ALL_PAGES })
  } catch (error) {
    // SQLite does not say which of the two it means, and the source is only read.
    const full = primaryCode(error) === SQLITE.FULL || extendedCode(error) === SQLITE_IOERR_WRITE
    throw full ? new Error('the copy cannot be written: is there room for it?') : error
  } finally {
    source.close()
  }
}

/** Throws one line where no file can be made, or one is there already. */
function makeEmpty(file: string): void {
  if (existsSync(file))
    throw new Error(`${file} is there, of a backup that did not end: delete it if none is running`)
  try {
    writeFileSync(file, '', { mode: OWNER_ONLY, flag: 'wx' })
  } catch (error) {
    throw new Error(`no file can be made there: ${error instanceof Error ? error.message : error}`)
  }
}

function check(file: string): number {
  const copy = new DatabaseSync(file)
  try {
    const [found] = copy.prepare('pragma integrity_check').all().map(Object.values)
    if (found?.[0] !== 'ok') throw new Error(`the copy is damaged: ${found}`)
    return Number(copy.prepare('select count(*) as n from payments').get()?.n)
  } finally {
    copy.close()
  }
}
