import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createGathering, createSharing, inSizes } from '../../src/core/gather.ts'

test('Calls during a run share the next one, and only a full run begins beside it', async () => {
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
  const ask = (count: number) =>
    Array.from({ length: count }, (_, i) => gather('one', i)) as Promise<unknown>[]
  const all = ask(1)
  await setImmediate()
  all.push(...ask(3))
  await setImmediate()
  assert.deepEqual(sizes(), [1])
  all.push(...ask(1))
  await setImmediate()
  assert.deepEqual(sizes(), [1, 4])
  all.push(...ask(9), gather('other', 0))
  await setImmediate()
  assert.deepEqual(sizes(), [1, 4, 1])
  for (let ended = 0; ended < runs.length; await setImmediate()) runs[ended++]?.end()
  await Promise.all(all)
  assert.deepEqual(sizes(), [1, 4, 1, 4, 4, 1])
})

test('Items are divided into the sizes of statements, each item once', () => {
  const items = Array.from({ length: 100 }, (_, i) => i)
  const parts = inSizes(items)
  assert.deepEqual(
    parts.map(({ length }) => length),
    [64, 8, 8, 8, 8, 1, 1, 1, 1],
  )
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
