import assert from 'node:assert/strict'
import { test } from 'node:test'
import { READ_TURN_MS } from '../../src/core/budgets.ts'
import { workFor } from '../../src/core/guests.ts'
import { connect } from '../../src/platform/database/sqlite/connection.ts'
import { createReader } from '../../src/platform/database/sqlite/sqlite.ts'

/** A reader whose queries each take so long, and the owners in the order in which they were read. */
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

test('Work whose client has left ends with its next read, which is not made', async () => {
  const { order, read, close } = startReader(0)
  let hasLeft = false
  await read('greedy', () => hasLeft)
  hasLeft = true
  await assert.rejects(read('greedy', () => hasLeft), { status: 400 })
  assert.deepEqual(order, ['greedy'])
  close()
})
