/**
 * A control for the power-cut test. `durable-program.ts FILE SYNCHRONOUS ROWS` writes rows with the service's group
 * commit and another `synchronous` setting, and prints each row once it is committed.
 */
import { writeSync } from 'node:fs'
import { createCommit, createQueue } from '../../../src/platform/database/sqlite/commit.ts'
import { connect } from '../../../src/platform/database/sqlite/connection.ts'

const [path = '', synchronous = 'full', rows = '1'] = process.argv.slice(2)
const connection = connect(path, 16_000)
connection.exec(`pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = 60`)
const commit = createCommit(connection)
const queue = createQueue(
  { commit: async batch => commit(batch), async close() {} },
  {
    onUnknownOutcome: error => {
      throw error
    },
  },
)
connection.exec('create table notes (note_id text primary key, body text not null) strict')
for (let row = 0; row < Number(rows); ) {
  const group = Array.from({ length: 1 + (row % 5) }, () => `note-${++row}`)
  await Promise.all(
    group.map(async id => {
      await queue.write([
        { sql: 'insert into notes values ($1, $2)', values: [id, id.repeat(50)], expect: 1 },
      ])
      writeSync(1, `{"note_id":"${id}"}\n`)
    }),
  )
}
await queue.end()
connection.close()
