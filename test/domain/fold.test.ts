import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { containing, fold } from '../../src/database/fold.ts'

/** Letters of several alphabets that have another case, or two or none, and what LIKE gives a meaning to. */
const characters = fc.constantFrom(...'aAzZ09 %_\\\'"-éÉŵŴñÑøØßẞµΜμſsKkǅΑαᾳΣσςΟοЖжᲀԱაաÿŸ😀')
const text = fc.string({ unit: characters, maxLength: 12 })

describe('Ignoring case', () => {
  test('makes a text equal to itself in capitals and in small letters', () => {
    fc.assert(
      fc.property(text, each => {
        const small = each.toLowerCase()
        assert.equal(fold(small), fold(each))
        assert.equal(fold(each.toUpperCase()), fold(each))
        assert.equal(fold(fold(each)), fold(each))
      }),
      { numRuns: 1000 },
    )
  })

  test('finds every part of a text, wherever in a word it was cut', () => {
    fc.assert(
      fc.property(text, text, text, (before, part, after) =>
        fold(before + part + after).includes(fold(part)),
      ),
      { numRuns: 1000 },
    )
  })

  test('keeps texts apart that differ in more than case', () => {
    for (const [one, another] of [
      ['e', 'é'],
      ['o', 'ø'],
      ['a b', 'ab'],
      ['a', 'а'],
    ])
      assert.notEqual(fold(one ?? ''), fold(another ?? ''))
  })
})

describe('A search for a part of a text', () => {
  test('takes what LIKE gives a meaning to by the letter', () => {
    assert.equal(containing('50%_OFF\\'), '%50\\%\\_off\\\\%')
  })

  test('is a pattern in which only the first and the last % are wild', () => {
    fc.assert(
      fc.property(text, part => {
        const pattern = containing(part)
        const inner = pattern.slice(1, -1)
        assert.equal(inner.replace(/\\(.)/gsu, '$1'), fold(part))
        assert.doesNotMatch(inner.replace(/\\./gsu, ''), /[%_\\]/)
      }),
    )
  })
})
