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
 * answers when they are on disk: group commit. A write that fails, or misses an expected row count,
 * undoes itself only. After a commit whose outcome is unknown nothing is written any more.
 */
export function createCommit(connection: Connection): (batch: Statement[][]) => Result[] {
  function runStep(step: Statement): Result {
    try {
      return connection.run(step)
    } catch (error) {
      const failure = failureOf(error)
      if (!connection.inTransaction() || failure.kind === 'unknown') throw error
      return failure
    }
  }

  /** `partly`: it came to nothing at a later step, and what the ones before it did is still there. */
  function run(statements: Statement[]): { result: Result; partly: boolean } {
    let begun = false
    for (const step of statements.flatMap(stepsOf)) {
      const result = runStep(step)
      if (result !== true) return { result, partly: begun }
      begun = true
    }
    return { result: true, partly: false }
  }

  /** undefined when a write came to nothing partly: then the transaction is worth nothing. */
  function runTogether(batch: Statement[][]): Result[] | undefined {
    const results: Result[] = []
    for (const statements of batch) {
      const { result, partly } = run(statements)
      if (partly) return undefined
      results.push(result)
    }
    return results
  }

  /** As `runTogether`, with a savepoint for each write: the slower way, which always comes to an end. */
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
