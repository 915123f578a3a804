import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShares } from '../../src/core/shares.ts'

test('An account alone has exactly half of a budget, and another account half of the rest', () => {
  const owners = new Map<string, number>()
  const shares = createShares(100, owners)
  assert.deepEqual([shares.hasSpace('a', 100), shares.hasSpace('a', 101)], [true, false])
  shares.add('a', 50)
  assert.deepEqual([shares.hasSpace('a', 0), shares.hasSpace('a', 1)], [true, false])
  assert.deepEqual([shares.hasSpace('b', 50), shares.hasSpace('b', 51)], [true, false])
  shares.add('a', -50)
  assert.equal(shares.hasSpace('a', 100), true)
  assert.equal(owners.size, 0, 'an account that holds nothing takes no memory')
})
