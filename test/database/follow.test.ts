import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNewId, idFloor } from '../../src/core/ids.ts'
import type { Database, Value } from '../../src/core/ports.ts'
import { findFollowed } from '../../src/platform/database/follow.ts'
import { where } from '../../src/platform/database/select.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { fc } from '../support/properties.ts'

const BEGIN = Date.UTC(2026, 8, 14, 8, 20)
type Row = { id: string }
const rows = {
  from: 'a',
  columns: 'id',
  id: 'id',
  idOf: ({ id }: Row) => id,
  bytes: '1',
  fromRow: (row: Row) => row,
}

async function openTable() {
  const database = openSqlite({ path: ':memory:', onUnknownOutcome: assert.ifError })
  await database.write([{ sql: 'create table a (id text primary key)', values: [] }])
  const put = (id: string) =>
    database.write([{ sql: 'insert into a values ($1) on conflict do nothing', values: [id] }])
  return { database, put }
}

test('A row that is committed while the first page since a time is read, and sorts before that page, is on the next one, and so is a second one', async t => {
  const { database, put } = await openTable()
  t.after(() => database.close())
  const newId = createNewId()
  const [latest, late, first] = [newId(BEGIN + 1), newId(BEGIN + 2), newId(BEGIN + 3)]
  await put(first)
  const racing: Database = {
    ...database,
    async query<Found>(sql: string, values?: Value[]) {
      const found = await database.query<Found>(sql, values)
      if (found.length > 0) await put(late)
      return found
    },
  }
  const since = idFloor(BEGIN)
  const page = await findFollowed(racing, rows, [], { limit: 10, since })
  assert.deepEqual(page.rows, [{ id: first }])
  const follow = (after: string) => findFollowed(database, rows, [], { after, limit: 10, since })
  const following = await follow(page.next)
  assert.deepEqual(following.rows, [{ id: late }, { id: first }])
  await put(latest)
  const { rows: all } = await follow(following.next)
  assert.deepEqual(all, [{ id: latest }, { id: late }, { id: first }])
})

/** Rows by their millisecond, the milliseconds until each is committed, and how many a follower reads before it. */
const history = fc.array(
  fc.record({ at: fc.nat(30_000), delay: fc.nat(12_000), limit: fc.integer({ min: 1, max: 4 }) }),
  { minLength: 3, maxLength: 14 },
)

test('A follower sees each row that is committed after it began, once where none is late, wherever its pages end.', async () => {
  const follows = fc.asyncProperty(history, fc.boolean(), async (drawn, isLate) => {
    const { database, put } = await openTable()
    const newId = createNewId()
    const commits = drawn
      .map(({ at, delay, limit }) => ({ id: newId(BEGIN + at), until: at + delay, limit }))
      .sort((a, b) => (isLate ? a.until - b.until : a.id < b.id ? -1 : 1))
    const [begun, later] = [commits.slice(0, 2), commits.slice(2)]
    for (const { id } of begun) await put(id)
    const follow = (paging: { after?: string; limit: number }) =>
      findFollowed(database, rows, [where('1 = 1')], paging)
    let { next } = await follow({ limit: 1 })
    const seen: string[] = []
    const read = async (limit: number) => {
      const page = await follow({ after: next, limit })
      seen.push(...page.rows.map(rows.idOf))
      next = page.next
      return page.rows.length
    }
    for (const { id, limit } of later) {
      await put(id)
      if (limit < 4) await read(limit)
    }
    while ((await read(2)) > 0) assert.ok(seen.length < 1_000, 'it has an end')
    await database.close()
    const owed = later.map(({ id }) => id).sort()
    const found = isLate
      ? [...new Set(seen)].filter(id => begun.every(each => each.id !== id))
      : seen
    assert.deepEqual(found.sort(), owed)
  })
  await fc.assert(follows, { numRuns: 60 })
})
