import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  BODY_BYTES,
  HELD_RESPONSE_BYTES,
  SLICE_MS,
  UNWRITTEN_BYTES,
  UNWRITTEN_ROWS,
} from '../../src/core/budgets.ts'
import type { Database } from '../../src/core/ports.ts'
import { createFactWriter } from '../../src/tools/explain/check/production.ts'
import { createBatches } from '../../src/tools/record/batches.ts'
import { createRowMaker, type RawExchange } from '../../src/tools/record/row.ts'
import { rawSearch } from '../support/record.ts'

/** Batches of one account. Their writes wait for `resolve` or `reject`, and their timer for the test. */
function createHeldBatches(
  t: TestContext,
  onFault: (error: unknown) => void = assert.ifError,
  onRow: () => void = () => {},
) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const writes: number[] = []
  const made: RawExchange[] = []
  const makeRow = createRowMaker('an instance', [], createFactWriter(assert.ifError))
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  promise.catch(() => {}) // it may be rejected some turns before a write waits for it
  const batches = createBatches({
    database: {
      write: rows => {
        writes.push(rows.length)
        return promise
      },
    } as Partial<Database> as Database, // all that it calls
    time: { wall: () => 0 },
    nextId: () => 'an exchange',
    makeRow: raw => {
      made.push(raw)
      onRow()
      return makeRow(raw)
    },
    onFault,
    onRecorded: () => {},
    space: { written() {}, async keep() {}, async makeRoom() {} },
  })
  const record = (raw: RawExchange = rawSearch) =>
    batches.add({ room: 'default', unlimited: true }, false, () => raw)
  const written = () => writes.reduce((sum, rows) => sum + rows)
  return { batches, record, resolve, reject, writes, written, made }
}

test('2,000 rows wait to be written, and what comes then is one row that counts', async t => {
  const { batches, record, resolve, written } = createHeldBatches(t)
  for (let i = 0; i < UNWRITTEN_ROWS + 50; i++) record()
  resolve(true)
  await batches.close()
  assert.equal(written(), UNWRITTEN_ROWS + 1)
})

test('a count that may still grow waits, although the count before it was written at once', async t => {
  const { batches, record, resolve, writes } = createHeldBatches(t)
  resolve(true)
  batches.pause()
  record()
  await batches.flush()
  record()
  await batches.write()
  assert.deepEqual(writes, [1])
})

test('exchanges that arrive while others are written wait for the next write', async t => {
  t.mock.method(performance, 'now', () => 0) // one slice
  const { batches, record, resolve, writes } = createHeldBatches(t)

  for (let i = 0; i < 3; i++) record()
  assert.equal(batches.isBehind(), false)
  t.mock.timers.runAll()
  record()
  resolve(true)
  await new Promise(setImmediate)
  for (let i = 0; i < 99; i++) record()
  assert.deepEqual(writes, [3])
  assert.equal(batches.isBehind(), true, '100 rows fill a write')

  t.mock.timers.runAll()
  await new Promise(setImmediate)
  assert.deepEqual(writes, [3, 100])
  assert.equal(batches.isBehind(), false)
  await batches.close()
})

test('a long response is not held in memory until the next write', async t => {
  t.mock.method(performance, 'now', () => 0) // one slice
  const { batches, record, resolve, made } = createHeldBatches(t)
  const turn = () => new Promise(setImmediate)
  record()
  await turn()
  assert.equal(made.length, 0, 'others are made with it')
  for (const responseBody of [
    'x'.repeat(HELD_RESPONSE_BYTES + 1),
    Buffer.alloc(HELD_RESPONSE_BYTES + 1),
  ]) {
    const before: number = made.length
    record({ ...rawSearch, responseBody })
    await turn()
    assert.ok(made.length > before)
  }
  resolve(true)
  await batches.close()
})

test('rows of hostile bodies are made in slices between turns of the event loop, and before that their bytes count', async t => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const { batches, record, resolve, written, made } = createHeldBatches(t, undefined, () => {
    now += SLICE_MS / 2
  })
  const requestBody = Buffer.alloc(BODY_BYTES, 'x')
  const most = UNWRITTEN_BYTES / BODY_BYTES
  for (let i = 0; i < most + 50; i++) record({ ...rawSearch, requestBody })
  while (made.length < most) {
    const before: number = made.length
    await new Promise(setImmediate)
    assert.ok(made.length - before <= 2)
  }
  resolve(true)
  await batches.close()
  assert.deepEqual([made.length, written()], [most, most + 1])
})

test('a record that cannot be written is reported once, also if there is nothing to write in between', async t => {
  const faults: unknown[] = []
  const { batches, record, reject, writes } = createHeldBatches(t, error => faults.push(error))
  const error = new Error('the disk is full')
  reject(error)
  record()
  await batches.write()
  await batches.write()
  assert.deepEqual(writes, [1], 'the second had nothing to write')
  await batches.flush()
  record()
  await batches.close()
  assert.deepEqual([writes, faults], [[1, 1, 2], [error]], 'the row that counts is tried again')
})
