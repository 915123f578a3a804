import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { newAccount } from '../../../src/core/account.ts'
import {
  ALL_RECORD_READERS,
  RECORD_READERS,
  RECORD_READERS_WAITING,
} from '../../../src/core/budgets.ts'
import { workFor } from '../../../src/core/guests.ts'
import { createReading } from '../../../src/core/turns.ts'
import { signIn } from '../../support/console.ts'
import { createGate } from '../../support/gate.ts'
import { open } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

// Each instance counts in its memory.
onOneDatabase('The turns of the console', service => {
  test('of searches in the console whose clients have left none begins, and those at work read no further', async t => {
    const { database, baseUrl, apps } = service()
    const api = await service().newAccount()
    const browser = await signIn(service(), api)
    const query = database.query.bind(database)
    const gate = createGate()
    let looks = 0
    t.after(gate.open)
    t.mock.method(database, 'query', async (sql: string, values: never[]) => {
      if (!sql.includes('from exchanges')) return query(sql, values)
      looks += 1
      await gate.wait()
      return query(sql, values)
    })
    const path = 'requests?text=nothing'
    await browser.get(path)
    const ofOne = looks
    const server = apps[0]?.server.server
    const connections = promisify((done: (error: Error | null, count: number) => void) =>
      server?.getConnections(done),
    )
    gate.close()
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open(baseUrl)))
    for (const socket of sockets)
      socket.write(`GET /console/${path} HTTP/1.1\r\nHost: a\r\nCookie: ${browser.cookie}\r\n\r\n`)
    while (gate.waiting() < RECORD_READERS) await setImmediate()
    const before = await connections()
    for (const socket of sockets) socket.destroy()
    while ((await connections()) > before - sockets.length) await setImmediate()
    const begun = looks
    gate.open()
    await browser.get(path)
    assert.ok(looks - begun <= ofOne, `${looks - begun} looks, of which one page has ${ofOne}`)
  })
})

/** Long work that goes on until `end` is called, and the names of what has begun. */
function startReading() {
  const reading = createReading()
  const begun: string[] = []
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const read = (name: string, socket = new EventEmitter()) =>
    reading(
      { account: { ...newAccount('child'), parent: name }, socket: socket as Socket },
      Symbol(),
      () => {
        begun.push(name)
        return promise
      },
    )
  return { begun, end, read }
}

test('of an account and its test accounts two read at once, others wait without a place, and who has left does not begin', async () => {
  const { begun, end, read } = startReading()
  let resting = 0
  const rest = () => {
    resting += 1
    return () => {
      resting -= 1
    }
  }
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  const all = workFor({ owner: 'greedy', rest }, () => [
    ...Array.from({ length: RECORD_READERS }, () => read('greedy')),
    read('greedy', socket),
  ])
  const other = read('stranger')
  assert.deepEqual(begun, ['greedy', 'greedy', 'stranger'])
  assert.equal(resting, RECORD_READERS + 1)
  socket.destroyed = true
  socket.emit('close')
  await assert.rejects(all.pop() ?? other, { status: 400 })
  end()
  await Promise.all([...all, other])
  assert.equal(begun.length, 3)
  assert.equal(resting, 0)
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
