import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { remember } from '../../src/core/remember.ts'

describe('A map that remembers so many entries', () => {
  test('deletes the oldest, and an entry that is set again is the newest', () => {
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

  test('takes as long for a new entry when it is full as before, however many it has', () => {
    const map = new Map<number, number>()
    const most = 40_000
    const fill = (from: number) => {
      const began = performance.now()
      for (let i = from; i < from + most; i++) remember(map, i, i, most)
      return performance.now() - began
    }
    const before = fill(0)
    const full = Math.min(fill(most), fill(2 * most))
    assert.ok(full < 20 * before, `${full} ms, and ${before} ms before`)
  })
})
