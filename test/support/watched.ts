import type { Database, Statement } from '../../src/core/ports.ts'

/** The same database; `note` first sees the statement of a query, or all of a write. */
export const watched = (
  database: Database,
  note: (statements: Statement[], kind: 'query' | 'write') => void,
): Database => ({
  ...database,
  query(sql, values = []) {
    note([{ sql, values }], 'query')
    return database.query(sql, values)
  },
  write(statements) {
    note(statements, 'write')
    return database.write(statements)
  },
})
