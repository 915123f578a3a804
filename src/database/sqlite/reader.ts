import type { Statement, Value } from '../../ports.ts'
import type { Connection } from './connection.ts'

export type Reader = {
  /** Rejects with SQLite's error. */
  query<Row>(sql: string, values?: Value[]): Promise<Row[]>
  /** Answers what was asked for before, and closes the connection. */
  close(): void
}

const BEGIN: Statement = { sql: 'begin', values: [] }
const END: Statement = { sql: 'commit', values: [] }

/**
 * Makes all reads that one turn of the event loop asks for at its end, one after the other and in one
 * transaction. Between two requests SQLite's code and pages would be driven out of the processor's
 * caches, and each read would take its own locks. The transaction's view of the file begins with its first
 * read, when all have been asked for: so each sees every write that was answered before it was asked for.
 * While `refusal` answers an error, reads are rejected with it.
 */
export function createReader(connection: Connection, refusal: () => Error | undefined): Reader {
  const asked: (() => void)[] = []

  /** False when the connection is closed: then each read tells who asked for it. */
  function begin(): boolean {
    try {
      connection.run(BEGIN)
      return true
    } catch {
      return false
    }
  }

  function answerAll(): void {
    const together = asked.length > 1 && begin()
    for (const answer of asked.splice(0)) answer()
    if (together && connection.inTransaction()) connection.run(END)
  }

  return {
    query: <Row>(sql: string, values: Value[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        if (asked.length === 0) setImmediate(answerAll)
        asked.push(() => {
          try {
            const rows = connection.query<Row>(sql, values)
            const refused = refusal()
            if (refused) reject(refused)
            else resolve(rows)
          } catch (error) {
            reject(error)
          }
        })
      }),
    close() {
      answerAll()
      connection.close()
    },
  }
}
