import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createNewId, idFloor, newSecret, timeOf } from '../../src/ids.ts'
import { oldestKept, RETENTION_MS } from '../../src/retention.ts'

const LATEST = 2 ** 48 - 1
const times = fc.oneof(
  fc.integer({ min: 0, max: LATEST }),
  fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2030-01-01') }),
)

describe('An identifier', () => {
  test('is 26 of 0-9 and a-v', () => {
    const newId = createNewId()
    fc.assert(fc.property(times, now => /^[0-9a-v]{26}$/.test(newId(now))))
  })

  test('holds the millisecond of its creation', () => {
    const newId = createNewId()
    fc.assert(fc.property(times, now => timeOf(newId(now)) === now))
  })

  test('sorts by creation, from whichever instance it comes', () => {
    const [one, another] = [createNewId(), createNewId()]
    fc.assert(
      fc.property(times, times, (a, b) => a === b || one(a) < another(b) === a < b),
      { numRuns: 500 },
    )
  })

  test('is greater than the one before it within one millisecond', () => {
    const newId = createNewId()
    const ids = Array.from({ length: 5000 }, () => newId(1_789_374_031_407))
    assert.deepEqual(ids, [...ids].sort())
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.every(id => timeOf(id) === 1_789_374_031_407))
  })

  test('is so too when others were made for another millisecond meanwhile', () => {
    const newId = createNewId()
    for (let now = 5_000; now < 6_000; now++) {
      const [first, , second] = [newId(now), newId(now + 1), newId(now)]
      assert.ok(first < second, `${first} and ${second}`)
    }
  })

  test('is not repeated by another instance at the same millisecond', () => {
    const ids = Array.from({ length: 2000 }, () => createNewId()(1_789_374_031_407))
    assert.equal(new Set(ids).size, ids.length)
  })

  test('has random digits in every place after the time', () => {
    const ids = Array.from({ length: 400 }, () => createNewId()(0))
    for (let place = 10; place < 26; place++)
      assert.ok(new Set(ids.map(id => id[place])).size > 20, `place ${place}`)
  })
})

describe('The floor of a time', () => {
  test('sorts at or before every identifier of that time or later, and after every earlier one', () => {
    const newId = createNewId()
    fc.assert(
      fc.property(times, times, (a, b) => newId(a) >= idFloor(b) === a >= b),
      { numRuns: 500 },
    )
    for (const now of [0, 1, 7, 8, LATEST - 1]) {
      assert.ok(newId(now) >= idFloor(now))
      assert.ok(newId(now) < idFloor(now + 1))
    }
  })

  test('of a time before 1970 lets every identifier through', () => {
    assert.ok(createNewId()(0) >= idFloor(-1))
  })
})

describe('The 7 days of a payment', () => {
  test('end to the millisecond', () => {
    const newId = createNewId()
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 47 }), created => {
        const id = newId(created)
        const kept = (now: number) => id >= oldestKept(now)
        return kept(created) && kept(created + RETENTION_MS - 1) && !kept(created + RETENTION_MS)
      }),
    )
    assert.equal(RETENTION_MS, 604_800_000)
  })
})

describe('A secret', () => {
  test('is 26 random digits, never the same', () => {
    const secrets = Array.from({ length: 2000 }, newSecret)
    for (const secret of secrets) assert.match(secret, /^[0-9a-v]{26}$/)
    assert.equal(new Set(secrets).size, secrets.length)
    for (let place = 0; place < 26; place++)
      assert.equal(new Set(secrets.map(secret => secret[place])).size, 32, `place ${place}`)
  })
})
