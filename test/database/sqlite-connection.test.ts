import assert from 'node:assert/strict'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { connect } from '../../src/platform/database/sqlite/connection.ts'

/** False once SQLite has finalised the statement. */
function isOpen(statement: StatementSync | undefined): boolean {
  try {
    return statement?.columns().length === 1
  } catch {
    return false
  }
}

test('A connection keeps the 200 newest prepared statements and closes the others', t => {
  const connection = connect(':memory:', 1_000)
  t.after(() => connection.close())
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare')
  const read = (number: number) =>
    assert.deepEqual(connection.query(`select ${number} as number`, []), [{ number }])
  for (let i = 0; i < 1_000; i++) {
    read(i)
    read(i)
  }
  const statements = prepare.mock.calls.map(({ result }) => result)
  assert.equal(statements.length, 1_000, 'none is prepared twice')
  const open = statements.flatMap((statement, i) => (isOpen(statement) ? [i] : []))
  assert.deepEqual(
    open,
    Array.from({ length: 200 }, (_, i) => 800 + i),
  )
  read(800)
  assert.equal(prepare.mock.callCount(), 1_000)
  read(799)
  assert.equal(prepare.mock.callCount(), 1_001, 'prepared again')
})
