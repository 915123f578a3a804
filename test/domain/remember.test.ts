import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remember } from '../../src/core/remember.ts'

test('the map deletes the oldest entry, and an entry that is set again is the newest', () => {
  const map = new Map<string, number>()
  const set = (...keys: string[]) => {
    for (const key of keys) remember(map, key, map.size, 3)
    return [...map.keys()].join('')
  }
  assert.equal(set('a', 'b', 'c'), 'abc')
  assert.equal(set('a', 'd'), 'cad')
  assert.equal(set('c', 'e'), 'dce')
  map.delete('d')
  map.delete('c')
  assert.equal(set('e', 'f', 'g', 'h'), 'fgh')
  map.clear()
  assert.equal(set('i', 'j', 'k', 'l'), 'jkl')
})

test('the map keeps its limit, and a large one deletes a thousandth of its entries at once', () => {
  const map = new Map<number, number>()
  const sizes = new Set<number>()
  for (let i = 0; i < 50_000; i++) {
    remember(map, i, i, 10_000)
    if (i >= 10_000) sizes.add(map.size)
  }
  assert.deepEqual([Math.min(...sizes), Math.max(...sizes)], [9_991, 10_000])
  assert.deepEqual([...map.keys()].at(-1), 49_999)
  assert.equal(Math.min(...map.keys()), 50_000 - map.size)
})
