import { DatabaseSync } from 'node:sqlite'
import { primaryCode, SQLITE } from './sqlite-codes.ts'
import { LONGEST_WAIT } from './sqlite-connection.ts'
import { makeFile } from './sqlite-file.ts'

export type Presence = {
  /** As the port's. */
  ifAlone(action: () => Promise<unknown>): Promise<void>
  end(): void
}

/**
 * Whoever has the database open holds a shared lock on a small file beside it for as long as the process
 * lives, however it ends. Who gets the whole lock is alone, and the others wait until it is given back.
 */
export function showPresence(path: string): Presence {
  if (path === ':memory:') return { ifAlone: async action => void (await action()), end: () => {} }
  makeFile(`${path}.lock`)
  const lock = new DatabaseSync(`${path}.lock`)

  function share(): void {
    lock.exec(`pragma busy_timeout = ${LONGEST_WAIT}`)
    lock.exec('begin; select 1 from sqlite_schema')
  }

  function takeWhole(): boolean {
    try {
      lock.exec('commit; pragma busy_timeout = 0; begin exclusive')
      return true
    } catch (error) {
      if (primaryCode(error) === SQLITE.BUSY) return false
      throw error
    }
  }

  share()
  return {
    async ifAlone(action) {
      try {
        if (takeWhole()) await action()
      } finally {
        if (lock.isTransaction) lock.exec('commit')
        share()
      }
    },
    end: () => lock.close(),
  }
}
