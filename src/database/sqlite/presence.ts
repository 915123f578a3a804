import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { LONGEST_WAIT } from './connection.ts'
import { makeFile } from './file.ts'

export type Presence = {
  /** As the port's. */
  ifAlone(action: () => Promise<unknown>): Promise<void>
  end(): void
}

/**
 * Whoever has the database open holds a shared lock on an empty file beside it for as long as the process
 * lives, however it ends. Who gets the whole lock is alone, and the others wait until it is given back.
 * Nothing is ever written: the disk may be full.
 */
export function showPresence(path: string): Presence {
  if (path === ':memory:') return { ifAlone: async action => void (await action()), end: () => {} }
  const file = `${realpathSync(path)}.lock`
  makeFile(file)
  const lock = new DatabaseSync(file)
  lock.exec('pragma journal_mode = memory')

  function share(): void {
    lock.exec(`pragma busy_timeout = ${LONGEST_WAIT}; begin; select 1 from sqlite_schema`)
  }

  /** The table is never kept: where the file cannot be written, `begin exclusive` alone takes less than it says. */
  function takeWhole(): boolean {
    lock.exec('rollback; pragma busy_timeout = 0')
    try {
      lock.exec('begin exclusive; create table whole (lock)')
      return true
    } catch {
      return false
    }
  }

  share()
  return {
    async ifAlone(action) {
      try {
        if (takeWhole()) await action()
      } finally {
        if (lock.isTransaction) lock.exec('rollback')
        share()
      }
    },
    end: () => lock.close(),
  }
}
