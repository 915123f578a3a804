import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNewId, createSeededIds, idFloor, newSecret, timeOf } from '../../src/core/ids.ts'
import { fc } from '../support/properties.ts'

const LATEST = 2 ** 48 - 1
const times = fc.oneof(
  fc.integer({ min: 0, max: LATEST }),
  fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2030-01-01') }),
)

test('an identifier is 26 of the characters 0-9 and a-v, and contains the millisecond of its creation', () => {
  const newId = createNewId()
  fc.assert(
    fc.property(times, now => {
      const id = newId(now)
      return /^[0-9a-v]{26}$/.test(id) && timeOf(id) === now
    }),
  )
})

test('identifiers of different instances sort by creation', () => {
  const [one, another] = [createNewId(), createNewId()]
  fc.assert(
    fc.property(times, times, (a, b) => a === b || one(a) < another(b) === a < b),
    { numRuns: 500 },
  )
})

test('identifiers of one millisecond increase, even while others are created for another millisecond', () => {
  const newId = createNewId()
  const ids = Array.from({ length: 5000 }, () => newId(1_789_374_031_407))
  assert.deepEqual(ids, [...new Set(ids)].sort())
  assert.ok(ids.every(id => timeOf(id) === 1_789_374_031_407))
  for (let now = 5_000; now < 6_000; now++) {
    const [first, , second] = [newId(now), newId(now + 1), newId(now)]
    assert.ok(first < second, `${first} and ${second}`)
  }
})

test('an identifier has random digits in every place after the time', () => {
  const ids = Array.from({ length: 400 }, () => createNewId()(0))
  for (let place = 10; place < 26; place++)
    assert.ok(new Set(ids.map(id => id[place])).size > 20, `place ${place}`)
})

test('idFloor sorts at or before identifiers of its time and later, after earlier ones, and of a time before 1970 before all', () => {
  const newId = createNewId()
  const ordered = fc.property(times, times, (a, b) => newId(a) >= idFloor(b) === a >= b)
  fc.assert(ordered, { numRuns: 500 })
  for (const now of [0, 1, 7, 8, LATEST - 1]) {
    assert.ok(newId(now) >= idFloor(now))
    assert.ok(newId(now) < idFloor(now + 1))
  }
  assert.ok(newId(0) >= idFloor(-1))
})

test('a secret is 26 random digits and never the same twice', () => {
  const secrets = Array.from({ length: 2000 }, newSecret)
  for (const secret of secrets) assert.match(secret, /^[0-9a-v]{26}$/)
  assert.equal(new Set(secrets).size, secrets.length)
  for (let place = 0; place < 26; place++)
    assert.equal(new Set(secrets.map(secret => secret[place])).size, 32, `place ${place}`)
})

test('the UUIDs of a seed are of version 4 and never the same twice', () => {
  const { secrets } = createSeededIds('a seed')
  const uuids = Array.from({ length: 2000 }, () => secrets.uuid('a room'))
  const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/
  for (const uuid of uuids) assert.match(uuid, version4)
  assert.equal(new Set(uuids).size, uuids.length)
})
