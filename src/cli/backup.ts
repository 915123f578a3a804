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
import { backup as copyPages, DatabaseSync } from 'node:sqlite'
import { refuseForeignFile } from '../platform/database/inspect.ts'
import {
  extendedCode,
  LONGEST_WAIT,
  primaryCode,
  SQLITE,
  SQLITE_IOERR_WRITE,
} from '../platform/database/sqlite/connection.ts'
import { OWNER_ONLY } from '../platform/database/sqlite/file.ts'
import { NEEDS_DATABASE, requireDatabase } from './database.ts'
import { defineCommand, JSON_OPTION } from './define-command.ts'
import { print, printJson } from './output.ts'

/** One step copies all pages. With more steps SQLite would start again after each write of the service. */
const ALL_PAGES = 2 ** 31 - 1

export const backup = defineCommand({
  summary: 'copy the SQLite database to a new file, and check the copy',
  examples: ['farthing backup /backup/farthing-monday.db'],
  argument: { value: '<file>', meaning: 'the new file' },
  options: JSON_OPTION,
  after: `${NEEDS_DATABASE}
The copy has everything, the record of requests without its newest two seconds.

To restore, stop the service and put the copy at the path in DATABASE_URL, in a
folder without the files of an older database (-wal and -shm included). For
PostgreSQL use pg_dump.`,
  async run({ config, argument: file, options }) {
    const { database } = config()
    if (database.kind !== 'sqlite')
      throw new Error('backup copies SQLite files only. For PostgreSQL use pg_dump')
    requireDatabase(database)
    if (existsSync(file)) throw new Error(`${file} exists: name a new file`)
    await refuseForeignFile(database.path)
    // SQLite takes a name that begins with "file:" for a URI, but never an absolute path.
    const payments = await copyChecked(database.path, resolve(file))
    if (options.json) return printJson({ file, payments })
    print(`Copied the database to ${file}, with ${payments} payment${payments === 1 ? '' : 's'}.`)
  },
})

/**
 * Writes the copy under a temporary name, checks and renames it, so that a file of that name is whole. It is a snapshot
 * with every write that was acknowledged before. Returns the number of payments.
 */
async function copyChecked(path: string, file: string): Promise<number> {
  const unchecked = `${file}.part`
  makeEmpty(unchecked)
  try {
    await copy(path, unchecked)
    const payments = check(unchecked)
    renameSync(unchecked, file)
    if (process.platform !== 'win32') syncFolder(dirname(file))
    return payments
  } finally {
    for (const left of [unchecked, `${unchecked}-journal`]) rmSync(left, { force: true })
  }
}

/** Keeps the name of a file through a power cut. Windows has no such call for folders. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

async function copy(path: string, file: string): Promise<void> {
  using source = new DatabaseSync(path, { readOnly: true, timeout: LONGEST_WAIT })
  try {
    await copyPages(source, file, { rate: ALL_PAGES })
  } catch (error) {
    // Either error code can mean a full disk. The source is only read, so the fault is the copy's.
    const full = primaryCode(error) === SQLITE.FULL || extendedCode(error) === SQLITE_IOERR_WRITE
    throw full ? new Error('the copy cannot be written: is there room for it?') : error
  }
}

/** Throws if the file exists or cannot be made. */
function makeEmpty(file: string): void {
  try {
    writeFileSync(file, '', { mode: OWNER_ONLY, flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(
      code === 'EEXIST'
        ? `${file} was left by a backup that did not finish: delete it if no backup is running`
        : `the copy cannot be made: ${message}`,
    )
  }
}

/** Returns the number of payments. Throws if the copy is damaged. */
function check(file: string): number {
  using copy = new DatabaseSync(file)
  const found = copy.prepare('pragma integrity_check').get()?.integrity_check
  if (found !== 'ok') throw new Error(`the copy is damaged: ${found}`)
  return Number(copy.prepare('select count(*) as n from payments').get()?.n)
}
