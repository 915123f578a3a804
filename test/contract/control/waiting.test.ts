import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { setImmediate } from 'node:timers/promises'
import { ALL_RECORD_READERS, HELD_WAITS, RECORD_READERS, RECORD_READERS_WAITING } from '../../../src/core/budgets.ts'
import { EventEmitter } from 'node:events'
import { newAccount } from '../../../src/core/account.ts'
import { workFor } from '../../../src/core/guests.ts'
import { createReading, createTurns } from '../../../src/core/turns.ts'
import type { Body } from '../../support/client.ts'
import { signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { createGate } from '../../support/gate.ts'
import { open } from '../../support/raw-http.ts'
import { flush } from '../../support/record.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'Requests that wait',
  service => {
    test('equal waits look together, and after their first look only at what is newer', async t => {
      const { database, baseUrl } = service()
      const api = await service().newAccount()
      await api.get('/v1/agreements')
      await flush(service())
      const query = database.query.bind(database)
      const seen: string[] = []
      t.mock.method(database, 'query', (sql: string, values: never[]) => {
        if (sql.includes('from exchanges')) seen.push(sql)
        return query(sql, values)
      })
      const wait = async (filter: string): Promise<Body> => {
        const url = `${baseUrl}/control/requests?${filter}`
        const headers = { Authorization: `Bearer ${api.key}` }
        return (await fetch(url, { headers })).json()
      }
      const idle = Array.from({ length: 20 }, () => wait('status=599&wait=900'))
      for (const { results } of await Promise.all(idle)) assert.deepEqual(results, [])
      const counts = seen.filter(sql => sql.includes('count(*)'))
      const bounded = counts.filter(sql => sql.includes('exchange_id >='))
      assert.deepEqual([counts.length > 0, counts.length - bounded.length], [true, 0])
      const whole = seen.length - counts.length
      assert.ok(whole <= RECORD_READERS + 1, `${whole} looks at all of the record`)
    })

    test('what is recorded wakes all that wait for it', async () => {
      const api = await service().newAccount()
      const headers = { Authorization: `Bearer ${api.key}` }
      const waits = Array.from({ length: 10 }, async (_, i): Promise<Body> => {
        const url = `${service().baseUrl}/control/requests?status=404&limit=${1 + (i % 2)}&wait=10000`
        return (await fetch(url, { headers })).json()
      })
      await api.get('/v1/payments/unknown')
      for (const { results } of await Promise.all(waits)) assert.equal(results[0]?.status, 404)
    })
  },
  { control: true },
)

// Each instance counts in its memory.
onOneDatabase(
  'The places of requests that wait',
  service => {
    test('a look that has begun keeps its place after the end of the wait, so that looks do not pile up', async t => {
      const { database, baseUrl } = service()
      const api = await service().newAccount()
      const query = database.query.bind(database)
      const looks = Promise.withResolvers<void>()
      t.after(() => looks.resolve())
      t.mock.method(database, 'query', async (sql: string, values: never[]) => {
        if (sql.includes('from exchanges')) await looks.promise
        return query(sql, values)
      })
      const headers = { Authorization: `Bearer ${api.key}` }
      const wait = async (reference: string): Promise<number> => {
        const url = `${baseUrl}/control/requests?reference=${reference}&wait=1`
        return (await fetch(url, { headers })).status
      }
      const statuses = await Promise.all(
        Array.from({ length: HELD_WAITS }, (_, i) => wait(`R-${i}`)),
      )
      assert.deepEqual(new Set(statuses), new Set([200]))
      assert.equal(await wait('one-more'), 503)
      looks.resolve()
      while ((await wait('later')) === 503) await setImmediate()
    })

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

    test('the requests of listeners count among the 200 of an account that wait at once, and look one at a time', async t => {
      const { database } = service()
      const query = database.query.bind(database)
      let looking = 0
      let most = 0
      t.mock.method(database, 'query', async (sql: string, values: never[]) => {
        if (!sql.includes('left join listener_attempts')) return query(sql, values)
        looking += 1
        most = Math.max(most, looking)
        return query(sql, values).finally(() => {
          looking -= 1
        })
      })
      const api = await service().newAccount()
      const { body } = await ask(service(), api, 'listeners', { name: 'a' })
      const url = `${service().baseUrl}/control/listeners/${body.webhook_id}`
      const headers = { Authorization: `Bearer ${api.key}` }
      const waits = Array.from({ length: HELD_WAITS + 1 }, () => fetch(`${url}/next`, { headers }))
      const first = await Promise.race(waits)
      assert.deepEqual([first.status, ((await first.json()) as Body).code], [503, 'C0429'])
      await fetch(url, { method: 'DELETE', headers })
      const statuses = await Promise.all(waits.map(async each => (await each).status))
      assert.deepEqual(statuses.sort(), [...Array(HELD_WAITS).fill(200), 503])
      assert.equal(most, 1)
    })
  },
  { control: true },
)

test('of a key a few run at once, and equal work that waits shares a run that begins after all of it was asked for', async () => {
  const turns = createTurns(2)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>(resolve => ends.push(() => resolve(name)))
  }
  const results = ['a', 'a', 'a', 'b', 'a'].map(name => turns('room', name, work(name)))
  const other = turns('other', 'a', work('of other'))
  assert.deepEqual(begun, ['a', 'a', 'of other'])
  const failing = turns('other', 'c', async () => {
    throw new Error('failed')
  })
  await assert.rejects(failing, /failed/)
  while (ends.length > 0) {
    ends.shift()?.()
    await setImmediate()
  }
  assert.deepEqual(await Promise.all([...results, other]), ['a', 'a', 'a', 'b', 'a', 'of other'])
  assert.deepEqual(begun, ['a', 'a', 'of other', 'a', 'b'])
})

/** Long work that goes on until `end` is called, and the names of what has begun. */
function startReading() {
  const reading = createReading()
  const begun: string[] = []
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const read = (name: string, socket = new EventEmitter()) =>
    reading({ account: { ...newAccount('child'), parent: name }, socket: socket as Socket }, Symbol(), () => {
      begun.push(name)
      return promise
    })
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
