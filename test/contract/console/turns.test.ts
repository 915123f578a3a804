import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { newAccount } from '../../../src/core/account.ts'
import {
  ALL_RECORD_READERS,
  RECORD_READERS,
  RECORD_READERS_WAITING,
  SEARCH_BYTES,
  SEARCHES_OF_ACCOUNT,
} from '../../../src/core/budgets.ts'
import { workFor } from '../../../src/core/guests.ts'
import { createReading } from '../../../src/core/turns.ts'
import { createLeaving } from '../../../src/platform/http/leaving.ts'

/** Reads that go on until `end` is called. `begun` has the names of the reads that have begun. */
function startReading() {
  const reading = createReading()
  const begun: string[] = []
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const read = (name: string, socket = new EventEmitter()) => {
    const account = { ...newAccount('child'), parent: name }
    return reading({ account, socket: socket as Socket }, Symbol(), () => {
      begun.push(name)
      return promise
    })
  }
  return { begun, end, read }
}

const startSocket = () => Object.assign(new EventEmitter(), { destroyed: false })
function leave(socket: ReturnType<typeof startSocket>): void {
  socket.destroyed = true
  socket.emit('close')
}

test('of an account and its test accounts two read at once, others wait without a place, and who has left does not begin', async () => {
  const { begun, end, read } = startReading()
  let resting = 0
  const rest = () => {
    resting += 1
    return () => void resting--
  }
  const socket = startSocket()
  const all = workFor({ owner: 'greedy', rest }, () => [
    ...Array.from({ length: RECORD_READERS }, () => read('greedy')),
    read('greedy', socket),
  ])
  const connection = new EventEmitter()
  const other = read('stranger', connection)
  assert.deepEqual([begun, resting], [['greedy', 'greedy', 'stranger'], RECORD_READERS + 1])
  leave(socket)
  await assert.rejects(all.pop() ?? other, { status: 400 })
  end()
  await Promise.all([...all, other])
  assert.deepEqual([begun.length, resting, connection.listenerCount('close')], [3, 0, 0])
})

test('where too many wait to read, the account with the most is told so, and another still waits', async () => {
  const { begun, end, read } = startReading()
  const owners = Array.from({ length: ALL_RECORD_READERS / RECORD_READERS }, (_, i) => `${i}`)
  const working = owners.flatMap(name => Array.from({ length: RECORD_READERS }, () => read(name)))
  const greedy = Array.from({ length: RECORD_READERS_WAITING }, () => read('greedy'))
  await assert.rejects(read('greedy'), { status: 503 })
  const stranger = read('stranger')
  await assert.rejects(greedy.pop() ?? stranger, { status: 503 })
  end()
  await Promise.all([...working, ...greedy, stranger])
  assert.ok(begun.indexOf('stranger') < begun.length - greedy.length / 2, 'it did not wait for all')
})

test('those that share long work go on one after the other, each in a turn of the event loop of its own, also when one has left', async () => {
  const reading = createReading()
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const socket = startSocket()
  const asker = { account: newAccount('many') }
  const leaving = { ...asker, socket: socket as unknown as Socket }
  const first = ['a', 'b'].map(what => reading(asker, what, () => promise))
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  const turns = Array.from({ length: 20 }, async (_, nth) => {
    const found = await reading(nth === 10 ? leaving : asker, 'shared', async () => 'found')
    assert.equal(found, 'found')
    return turn
  })
  count()
  leave(socket)
  end()
  await Promise.all(first)
  const wentOn = await Promise.all(turns)
  isOver = true
  assert.equal(new Set(wentOn).size, 20)
})

test('a search that waited for its turn is 503 if the memory is gone by then, and leaves its turn to the next', async () => {
  const leaving = createLeaving(16 * SEARCH_BYTES)
  const account = newAccount('a')
  const take = async () => {
    const request = { account, socket: { destroyed: false } } as unknown as FastifyRequest
    await leaving.takeTurn(request, { raw: new EventEmitter() } as unknown as FastifyReply)
    return request.turn
  }
  const all = () => Promise.all(Array.from({ length: SEARCHES_OF_ACCOUNT }, take))
  const [first, ...others] = await all()
  const waiting = assert.rejects(take(), { status: 503 })
  others[0]?.add(6 * SEARCH_BYTES)
  first?.end()
  await waiting
  for (const turn of others) turn?.end()
  assert.equal((await all()).length, SEARCHES_OF_ACCOUNT)
})
