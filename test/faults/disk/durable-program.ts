/**
 * A control for the power-cut test. `durable-program.ts FILE SYNCHRONOUS ROWS` writes rows through the
 * service's SQLite port with another `synchronous` setting, and prints each row once it is committed.
 */
import { writeSync } from 'node:fs'
import { openSqlite } from '../../../src/platform/database/sqlite/sqlite.ts'

const [path = '', synchronous = 'full', rows = '1'] = process.argv.slice(2)
const database = openSqlite({
  path,
  onUnknownOutcome: error => {
    throw error
  },
})
await database.exec(`pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = 60`)
await database.exec('create table notes (note_id text primary key, body text not null) strict')
for (let row = 0; row < Number(rows); ) {
  const group = Array.from({ length: 1 + (row % 5) }, () => `note-${++row}`)
  await Promise.all(
    group.map(async id => {
      await database.write([
        { sql: 'insert into notes values ($1, $2)', values: [id, id.repeat(50)], expect: 1 },
      ])
      writeSync(1, `{"note_id":"${id}"}\n`)
    }),
  )
}
await database.close()
