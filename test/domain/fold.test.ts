import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containing, fold } from '../../src/platform/database/fold.ts'
import { fc } from '../support/properties.ts'

/** Letters of several alphabets with one, two or three cases, and the characters that LIKE treats specially. */
const characters = fc.constantFrom(...'aAzZ09 %_\\\'"-éÉŵŴñÑøØßẞµΜμſsKkǅΑαᾳΣσςΟοЖжᲀԱაաÿŸ😀')
const text = fc.string({ unit: characters, maxLength: 12 })

test('folding makes a text equal to itself in capitals and in lower case', () => {
  fc.assert(
    fc.property(text, each => {
      assert.equal(fold(each.toLowerCase()), fold(each))
      assert.equal(fold(each.toUpperCase()), fold(each))
      assert.equal(fold(fold(each)), fold(each))
    }),
    { numRuns: 1000 },
  )
})

test('folding finds every part of a text, wherever it was cut', () => {
  fc.assert(
    fc.property(text, text, text, (before, part, after) =>
      fold(before + part + after).includes(fold(part)),
    ),
    { numRuns: 1000 },
  )
})

test('folding keeps texts apart that differ in more than case', () => {
  for (const [one, another] of [
    ['e', 'é'],
    ['o', 'ø'],
    ['a b', 'ab'],
    ['a', 'а'],
  ])
    assert.notEqual(fold(one ?? ''), fold(another ?? ''))
})

test('a LIKE pattern has a wildcard only at its beginning and its end, and escapes what LIKE treats specially', () => {
  assert.equal(containing('50%_OFF\\'), '%50\\%\\_off\\\\%')
  fc.assert(
    fc.property(text, part => {
      const pattern = containing(part)
      const inner = pattern.slice(1, -1)
      assert.equal(inner.replace(/\\(.)/gsu, '$1'), fold(part))
      assert.doesNotMatch(inner.replace(/\\./gsu, ''), /[%_\\]/)
    }),
  )
})
