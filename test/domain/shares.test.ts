import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShares } from '../../src/core/shares.ts'

test('An account alone has half of a budget to the byte, and another one half of what is left', () => {
  const shares = createShares(100)
  assert.deepEqual([shares.hasRoom('a', 100), shares.hasRoom('a', 101)], [true, false])
  shares.add('a', 50)
  assert.deepEqual([shares.hasRoom('a', 0), shares.hasRoom('a', 1)], [true, false])
  assert.deepEqual([shares.hasRoom('b', 50), shares.hasRoom('b', 51)], [true, false])
  shares.add('a', -50)
  assert.equal(shares.hasRoom('b', 100), true)
})
