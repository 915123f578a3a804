import type { Database, Statement } from '../../core/ports.ts'
import { primaryCode, SQLITE } from './sqlite/connection.ts'

const DISK_FULL = '53100'

/** Whether a write failed because the disk is full: then nothing was written. */
const isDiskFull = (error: unknown): boolean =>
  primaryCode(error) === SQLITE.FULL ||
  (error instanceof Error && 'code' in error && error.code === DISK_FULL)

/** The database, where a write that found the disk full is tried once more after `giveWay` has made room. */
export function givingWay(database: Database, giveWay: () => Promise<void>): Database {
  const write = (statements: Statement[]): Promise<boolean> =>
    database.write(statements).catch(async error => {
      if (!isDiskFull(error)) throw error
      await giveWay()
      return database.write(statements)
    })
  return {
    write,
    query: (sql, values) => database.query(sql, values),
    check: () => database.check(),
    freeBytes: () => database.freeBytes(),
    serverTime: () => database.serverTime(),
    close: () => database.close(),
  }
}
