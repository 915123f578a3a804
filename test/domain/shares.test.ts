import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShares } from '../../src/core/shares.ts'

test('An account alone has half of a budget to the byte, and another one half of what is left', () => {
  const shares = createShares(100)
  assert.deepEqual([shares.hasSpace('a', 100), shares.hasSpace('a', 101)], [true, false])
  shares.add('a', 50)
  assert.deepEqual([shares.hasSpace('a', 0), shares.hasSpace('a', 1)], [true, false])
  assert.deepEqual([shares.hasSpace('b', 50), shares.hasSpace('b', 51)], [true, false])
  shares.add('a', -50)
  assert.equal(shares.hasSpace('b', 100), true)
})
