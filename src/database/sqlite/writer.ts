import type { Statement } from '../../ports.ts'
import { extendedCode, primaryCode, SQLITE } from './codes.ts'
import type { Connection } from './connection.ts'

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

/** What writes, on whichever thread, in the order in which it is asked. */
export type Writer = {
  commit(batch: Statement[][]): Promise<Result[]>
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

/**
 * Makes the function that commits the writes of a batch in one transaction, with one fsync, and
 * answers when they are on disk: group commit. A write that fails, or misses an expected row count,
 * undoes itself only. After a commit whose outcome is unknown nothing is written any more.
 */
export function createCommit(connection: Connection): (batch: Statement[][]) => Result[] {
  function runStep(step: Statement): number | Failure {
    try {
      return connection.run(step)
    } catch (error) {
      const failure = failureOf(error)
      if (!connection.inTransaction() || failure.kind === 'unknown') throw error
      return failure
    }
  }

  /** `partly`: it came to nothing, and some of what it did is still there. */
  function run(statements: Statement[]): { result: Result; partly: boolean } {
    let begun = false
    for (const statement of statements)
      for (const step of stepsOf(statement)) {
        const changes = runStep(step)
        if (typeof changes === 'object') return { result: changes, partly: begun }
        if (step.expect !== undefined && changes !== step.expect)
          return { result: false, partly: begun || changes > 0 }
        begun = true
      }
    return { result: true, partly: false }
  }

  /** undefined as soon as a write comes to nothing partly: only the whole transaction can be undone. */
  function runTogether(batch: Statement[][]): Result[] | undefined {
    const results: Result[] = []
    for (const statements of batch) {
      const { result, partly } = run(statements)
      if (partly) return undefined
      results.push(result)
    }
    return results
  }

  /** The slower way: a savepoint for each write, so that it can be undone by itself. */
  function runApart(batch: Statement[][]): Result[] {
    return batch.map(statements => {
      connection.exec('savepoint one_write')
      const { result, partly } = run(statements)
      if (partly) connection.exec('rollback to one_write')
      connection.exec('release one_write')
      return result
    })
  }

  let broken: Failure | undefined

  return batch => {
    if (broken) return batch.map(() => broken ?? false)
    try {
      connection.exec('begin immediate')
      let results = runTogether(batch)
      if (!results) {
        // Free for a moment, the lock may go to another process: what that writes counts in what follows.
        connection.exec('rollback; begin immediate')
        results = runApart(batch)
      }
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

const stepsOf = (statement: Statement): Statement[] =>
  statement.also ? [statement, statement.also] : [statement]

export function failureOf(error: unknown): Failure {
  const primary = primaryCode(error)
  const unknown = primary === SQLITE.IOERR || primary === SQLITE.CORRUPT
  return {
    message: error instanceof Error ? error.message : String(error),
    errcode: extendedCode(error),
    kind: unknown ? 'unknown' : primary === SQLITE.FULL ? 'full' : 'undone',
  }
}

/** The same as an error, with the codes that node:sqlite gives to its own. */
export const errorOf = ({ message, errcode }: Failure): Error =>
  Object.assign(new Error(message), errcode !== undefined && { code: 'ERR_SQLITE_ERROR', errcode })
