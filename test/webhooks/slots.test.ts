import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { createSlots, type ReleaseSlot } from '../../src/core/slots.ts'

/** Milliseconds. */
const LONG = 60_000

function waitersOf(take: ReturnType<typeof createSlots>) {
  const order: string[] = []
  async function waiter(host: string, name = host) {
    const release = await take(host, LONG)
    order.push(name)
    return release
  }
  return { order, waiter }
}

test('A released slot goes to the caller that has waited longest.', async () => {
  const take = createSlots(2, 100)
  const { order, waiter } = waitersOf(take)
  const first = await take('a', LONG)
  const second = await take('a', LONG)
  const third = waiter('a', 'third')
  const fourth = waiter('a', 'fourth')
  await setImmediate()
  assert.deepEqual(order, [])
  second?.()
  await third
  await setImmediate()
  assert.deepEqual(order, ['third'])
  first?.()
  await fourth
  assert.deepEqual(order, ['third', 'fourth'])
})

test('A caller that timed out gets no slot, and none is lost.', async () => {
  const take = createSlots(1, 100)
  const release = await take('a', LONG)
  const impatient = take('a', 1)
  const patient = take('a', LONG)
  assert.equal(await impatient, undefined)
  release?.()
  const again: ReleaseSlot | undefined = await patient
  again?.()
  assert.ok(await take('a', LONG))
})

test('The hosts share a number of slots, and the next one goes to the host that has the fewest.', async () => {
  const take = createSlots(3, 4)
  const { order, waiter } = waitersOf(take)
  const held = [await take('a', LONG), await take('a', LONG), await take('a', LONG)]
  const last = await take('b', LONG)
  const waiting = ['a', 'a', 'b', 'c'].map(host => waiter(host))
  assert.equal(await take('d', 1), undefined)
  for (const release of [held[0], held[1], last, held[2]]) {
    release?.()
    await setImmediate()
  }
  await Promise.all(waiting)
  assert.deepEqual(order, ['c', 'a', 'b', 'a'])
})

test('A host without taken slots uses no memory.', async () => {
  const take = createSlots(1, 100)
  const count = () => queryObjects(Set, { format: 'count' })
  const before = count()
  for (let host = 0; host < 1_000; host++) {
    const release = await take(`host-${host}`, LONG)
    const next = take(`host-${host}`, LONG)
    release?.()
    const last: ReleaseSlot | undefined = await next
    last?.()
  }
  assert.ok(count() - before < 100, `${count() - before} sets`)
  assert.ok(await take('host-0', LONG))
})
