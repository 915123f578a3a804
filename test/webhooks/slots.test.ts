import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createSlots, type ReleaseSlot } from '../../src/webhooks/slots.ts'

const never = new AbortController().signal

describe('The slots of a host', () => {
  test('are given out up to the limit, then to who has waited longest', async () => {
    const take = createSlots(2)
    const order: string[] = []
    const waiter = async (name: string) => {
      const release = await take('a', never)
      order.push(name)
      return release
    }
    const first = await take('a', never)
    const second = await take('a', never)
    const third = waiter('third')
    const fourth = waiter('fourth')
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

  test('are not those of another host', async () => {
    const take = createSlots(1)
    await take('a', never)
    assert.ok(await take('b', never))
  })

  test('are not given to who has given up waiting, nor lost by it', async () => {
    const take = createSlots(1)
    const release = await take('a', never)
    const patience = new AbortController()
    const impatient = take('a', patience.signal)
    const patient = take('a', never)
    patience.abort()
    assert.equal(await impatient, undefined)
    release?.()
    const again: ReleaseSlot | undefined = await patient
    again?.()
    assert.ok(await take('a', never))
  })
})
