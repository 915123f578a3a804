import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createGathering, createSharing, inSizes } from '../../src/core/gather.ts'

test('Calls of one turn, and calls during as many runs as there may be, share the next run', async () => {
  const runs: { items: number[]; end: () => void }[] = []
  const gather = createGathering(
    4,
    async (items: number[]) => {
      await new Promise<void>(end => runs.push({ items, end }))
      return items
    },
    2,
  )
  const sizes = () => runs.map(({ items }) => items.length)
  const all: Promise<unknown>[] = []
  async function ask(count: number, key = 'one') {
    all.push(...Array.from({ length: count }, (_, i) => gather(key, i)))
    await setImmediate()
  }
  await ask(1)
  await ask(3)
  assert.deepEqual(sizes(), [1, 3], 'a run beside the first')
  await ask(2)
  await ask(7)
  assert.deepEqual(sizes(), [1, 3], 'nine wait for one of two runs')
  await ask(1, 'other')
  assert.deepEqual(sizes(), [1, 3, 1], 'another key waits for neither')
  for (let ended = 0; ended < runs.length; await setImmediate()) runs[ended++]?.end()
  await Promise.all(all)
  assert.deepEqual(sizes(), [1, 3, 1, 4, 4, 1])
  await ask(6, 'full')
  assert.deepEqual(sizes().slice(6), [4, 2], 'more than one run has places for')
  for (const { end } of runs.slice(6)) end()
  await Promise.all(all)
})

test('Items are divided into the sizes of statements, each item once', () => {
  const items = Array.from({ length: 100 }, (_, i) => i)
  const parts = inSizes(items)
  const lengths = parts.map(({ length }) => length)
  assert.deepEqual(lengths, [64, 32, 4])
  assert.deepEqual(parts.flat(), items)
})

test('A key has one shared run at a time, and calls meanwhile share a run that begins after them', async () => {
  const share = createSharing<number>()
  const ends: (() => void)[] = []
  let begun = 0
  const work = async () => {
    begun += 1
    const number = begun
    await new Promise<void>(resolve => ends.push(resolve))
    return number
  }
  const first = share('room', work)
  await setImmediate()
  const later = [share('room', work), share('room', work)]
  const other = share('other', work)
  const failing = share('failing', () => Promise.reject(new Error('failed')))
  await assert.rejects(failing, /failed/)
  assert.equal(begun, 2)
  for (let ended = 0; ended < ends.length; await setImmediate()) ends[ended++]?.()
  assert.deepEqual(await Promise.all([first, ...later, other]), [1, 3, 3, 2])
})
