import type { Statement } from '../ports.ts'
import type { Connection } from './sqlite-connection.ts'

/** Why a write came to nothing, in a form that can go from one thread to another. */
export type Failure = {
  message: string
  /** SQLite's extended result code; undefined for what is no error of SQLite's. */
  errcode: number | undefined
  /** unknown: nobody knows what of the transaction is on disk. full: there is no room for it. */
  kind: 'unknown' | 'full' | 'undone'
}

/** How one write ended: as the port's `write` resolves, or why it rejects. */
export type Result = boolean | Failure

const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13

/**
 * Makes the function that commits the writes of a batch in one transaction, with one fsync, and
 * answers when they are on disk: group commit. Each write has its own savepoint, so that one that
 * fails, or misses an expected row count, undoes itself only. After a commit whose outcome is unknown
 * nothing is written any more.
 */
export function createCommit(connection: Connection): (batch: Statement[][]) => Result[] {
  const run = (statement: Statement): boolean =>
    connection.run(statement) && (!statement.also || connection.run(statement.also))

  function runAll(statements: Statement[]): boolean {
    const [only] = statements
    if (statements.length === 1 && only && !only.also) return connection.run(only)
    connection.exec('savepoint one_write')
    try {
      const written = statements.every(run)
      if (!written) connection.exec('rollback to one_write')
      connection.exec('release one_write')
      return written
    } catch (error) {
      if (connection.inTransaction()) connection.exec('rollback to one_write; release one_write')
      throw error
    }
  }

  function runOne(statements: Statement[]): Result {
    try {
      return runAll(statements)
    } catch (error) {
      const failure = failureOf(error)
      if (!connection.inTransaction() || failure.kind === 'unknown') throw error
      return failure
    }
  }

  let broken: Failure | undefined

  return batch => {
    if (broken) return batch.map(() => broken ?? false)
    try {
      connection.exec('begin immediate')
      const results = batch.map(runOne)
      connection.exec('commit')
      return results
    } catch (error) {
      const failure = failureOf(error)
      if (failure.kind === 'unknown') broken = failure
      else if (connection.inTransaction()) connection.exec('rollback')
      return batch.map(() => failure)
    }
  }
}

export function failureOf(error: unknown): Failure {
  const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined
  const primary = errcode === undefined ? 0 : errcode & 0xff
  const unknown = primary === IO_ERROR || primary === CORRUPT
  return {
    message: error instanceof Error ? error.message : String(error),
    errcode,
    kind: unknown ? 'unknown' : primary === FULL ? 'full' : 'undone',
  }
}

/** The same as an error, with the codes that node:sqlite gives to its own. */
export const errorOf = ({ message, errcode }: Failure): Error =>
  Object.assign(new Error(message), errcode !== undefined && { code: 'ERR_SQLITE_ERROR', errcode })
