import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fastify } from 'fastify'
import {
  CONTROL_REQUESTS,
  REQUESTS_IN_PROGRESS,
  REQUESTS_OF_ACCOUNT,
  UNNAMED_REQUESTS,
  UNNAMED_WAITING,
} from '../../../src/core/budgets.ts'
import { createLimits } from '../../../src/platform/http/limits.ts'
import { createPlaces, type Place } from '../../../src/platform/http/places.ts'

type Places = ReturnType<typeof createPlaces>

function takeAll({ enter }: Places, owner: string): Place[] {
  const taken: Place[] = []
  for (let place = enter(owner, 'api'); place; place = enter(owner, 'api')) taken.push(place)
  return taken
}

test('An account takes at most 800 of 1,000 places, and another always finds one', () => {
  const places = createPlaces()
  const first = takeAll(places, 'first')
  assert.equal(first.length, REQUESTS_OF_ACCOUNT)
  const counts = ['second', 'third', 'fourth'].map(name => takeAll(places, name).length)
  assert.ok(counts.every(count => count > 0))
  assert.ok(counts.reduce((a, b) => a + b, first.length) < REQUESTS_IN_PROGRESS)
  assert.equal(places.enter('first', 'api'), undefined)
  first.pop()?.leave()
  first.pop()?.leave()
  assert.ok(places.enter('stranger', 'api'))
})

test('An account whose places are all taken has ten more for control', () => {
  const places = createPlaces()
  const taken = takeAll(places, 'first')
  const control = Array.from({ length: CONTROL_REQUESTS + 1 }, () =>
    places.enter('first', 'control'),
  )
  assert.equal(control.filter(Boolean).length, CONTROL_REQUESTS)
  assert.equal(places.enter('first', 'api'), undefined)
  assert.ok(places.enter('stranger', 'api'))
  for (const place of [...taken, ...control]) place?.leave()
  assert.ok(places.enter('first', 'api'))
})

test('A request has no place while it rests, once however many things it waits for', () => {
  const places = createPlaces()
  const own = places.enter('first', 'console')
  const others = takeAll(places, 'first')
  const [one, other] = [own?.rest(), own?.rest()]
  assert.ok(places.enter('first', 'api'))
  assert.equal(places.enter('first', 'api'), undefined)
  other?.()
  one?.()
  own?.leave()
  for (const place of others) place.leave()
  assert.equal(takeAll(places, 'first').length, REQUESTS_OF_ACCOUNT - 1)
})

test('Requests without a key have 100 places, then wait for one, and take that of the account that their token names', async () => {
  const places = createPlaces()
  const client = new EventEmitter().setMaxListeners(0)
  const ask = () => places.enterUnnamed(client)
  const [first, ...others] = await Promise.all(Array.from({ length: UNNAMED_REQUESTS }, ask))
  const waiting = Array.from({ length: UNNAMED_WAITING }, ask)
  assert.equal(await ask(), undefined)
  let entered = 0
  for (const each of waiting) void Promise.resolve(each).then(place => (entered += place ? 1 : 0))
  await setImmediate()
  assert.equal(entered, 0)

  first?.become?.('named')
  assert.equal(first?.owner, 'named')
  await setImmediate()
  assert.equal(entered, 1)
  // The one of the token, and another that has come in.
  const free = REQUESTS_OF_ACCOUNT - (UNNAMED_REQUESTS / 5) * 4 - 1
  assert.equal(takeAll(places, 'named').length, free)
  const [second] = others
  assert.throws(() => second?.become?.('named'), { status: 503 })

  client.emit('close')
  await setImmediate()
  assert.equal(entered, 1, 'who has left waits no more')
})

/** Requests that take `ms` milliseconds each. `begun` has their outcomes, in the order in which they began. */
function createArrivals(t: TestContext, ms: number) {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const enter = createLimits(fastify(), new AbortController()).enter('api')
  const begun: string[] = []
  function arrive(name?: string): void {
    const request = { headers: {}, socket: {}, ...(name && { account: { name, parent: null } }) }
    enter(request as never, { raw: new EventEmitter() } as never, error => {
      begun.push(error?.message ?? name ?? 'served')
      now += ms
      const { place } = request as { place?: Place }
      place?.leave()
    })
  }
  return { arrive, begun }
}

test('Of requests that arrive at once those of 10 ms begin, and of the others another account has every second', async t => {
  const { arrive, begun } = createArrivals(t, 4)
  for (let i = 0; i < 7; i++) arrive('busy')
  arrive('stranger')
  assert.deepEqual(begun, ['busy', 'busy', 'busy'])
  for (let turns = 0; turns < 3; turns++) {
    const active = process.getActiveResourcesInfo()
    assert.ok(active.includes('Immediate'), 'the event loop waits for nothing else meanwhile')
    await setImmediate()
  }
  assert.deepEqual(begun.slice(3), ['busy', 'stranger', 'busy', 'busy', 'busy'])
})

test('Requests without a key and a body take no place before it is their turn', async t => {
  const { arrive, begun } = createArrivals(t, 1)
  const many = UNNAMED_REQUESTS + UNNAMED_WAITING + 100
  for (let i = 0; i < many; i++) arrive()
  while (begun.length < many) await setImmediate()
  assert.ok(begun.every(outcome => outcome === 'served'))
})
