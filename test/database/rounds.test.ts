import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { READ_TURN_MS, STEP_BYTES } from '../../src/core/budgets.ts'
import { workFor } from '../../src/core/guests.ts'
import type { Database, Value } from '../../src/core/ports.ts'
import { createRounds } from '../../src/core/rounds.ts'
import { findWithin, where } from '../../src/platform/database/select.ts'
import { connect } from '../../src/platform/database/sqlite/connection.ts'
import { createReader } from '../../src/platform/database/sqlite/sqlite.ts'
import { createBeginning } from '../../src/platform/http/beginning.ts'

function startReader(milliseconds: number) {
  const order: string[] = []
  const connection = connect(':memory:', 1_000)
  const reader = createReader(
    {
      ...connection,
      query<Row>(sql: string) {
        order.push(sql)
        for (const until = performance.now() + milliseconds; performance.now() < until; );
        return [] as Row[]
      },
    },
    () => undefined,
  )
  const read = (owner: string, hasLeft?: () => boolean) =>
    workFor({ owner, ...(hasLeft && { hasLeft }) }, () => reader.query(owner))
  return { order, read, close: reader.close }
}

test('A read waits for one step of each account that is busy, and not for all that they have asked for', async () => {
  const { order, read, close } = startReader(READ_TURN_MS)
  const greedy = Array.from({ length: 20 }, () => read('greedy'))
  const other = Array.from({ length: 20 }, () => read('other'))
  await read('stranger')
  assert.deepEqual(order.slice(0, 3), ['greedy', 'other', 'stranger'])
  await Promise.all([...greedy, ...other])
  close()
})

test('Requests wait while connections are accepted, for 200 ms at most, and then not for as long', async t => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const server = new EventEmitter()
  const begin = createBeginning(server)
  const begunAfter = async (milliseconds: number) => {
    const start = now
    let begun: number | undefined
    const connect = () => now - start < milliseconds && server.emit('connection')
    connect()
    begin('stranger', () => {
      begun = now - start
    })
    for (; begun === undefined && now < start + 1_000; now += 10) {
      await setImmediate()
      connect()
    }
    return begun
  }
  assert.equal(await begunAfter(0), 0)
  assert.equal(await begunAfter(100), 110)
  assert.equal(await begunAfter(500), 200)
  assert.equal(await begunAfter(500), 0)
})

test('A batch of writes has one of each account in turn', () => {
  const queue = createRounds<string>()
  for (const write of ['1', '2', '3']) queue.add('greedy', `greedy ${write}`)
  queue.add('other', 'other 1')
  queue.add('stranger', 'stranger 1')
  assert.deepEqual(queue.take(4), ['greedy 1', 'other 1', 'stranger 1', 'greedy 2'])
  assert.deepEqual(queue.take(4), ['greedy 3'])
})

test('Work whose client has left ends with its next read, which is not made', async () => {
  const { order, read, close } = startReader(0)
  let hasLeft = false
  await read('greedy', () => hasLeft)
  hasLeft = true
  await assert.rejects(
    read('greedy', () => hasLeft),
    { status: 400 },
  )
  assert.deepEqual(order, ['greedy'])
  close()
})

test('Rows that may be large are read in steps, in either order, and none is missing', async () => {
  const connection = connect(':memory:', 1_000)
  connection.exec('create table large (id text primary key, body text)')
  const ids = Array.from({ length: 20 }, (_, i) => `id-${String(i).padStart(2, '0')}`)
  const body = 'x'.repeat(STEP_BYTES / 4)
  for (const id of ids)
    connection.run({ sql: 'insert into large values ($1, $2)', values: [id, body] })
  const steps: number[] = []
  const query = async <Row>(sql: string, values: Value[] = []) => {
    const rows = connection.query<Row & object>(sql, values)
    if (rows.some(row => 'body' in row)) steps.push(rows.length)
    return rows
  }
  const table = {
    from: 'large',
    columns: 'id, body',
    id: 'id',
    bytes: 'length(body)',
    fromRow: ({ id }: { id: string }) => id,
  }
  for (const [order, wanted] of [
    ['oldest', ids],
    ['newest', ids.toReversed()],
  ] as const) {
    const find = (most: number) =>
      findWithin({ query } as Database, table, [where('1 = 1')], { limit: 100, order, most })
    assert.deepEqual(await find(Infinity), wanted)
    assert.deepEqual(steps.splice(0), [4, 4, 4, 4, 4])
    assert.deepEqual(await find(1), wanted.slice(0, 1))
    assert.deepEqual(steps.splice(0), [1])
  }
  connection.close()
})
