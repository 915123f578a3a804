import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cy } from '../../src/hosted/text.cy.ts'
import { en } from '../../src/hosted/text.en.ts'

/** Words that are the same in both languages. */
const shared = ['shell.banner.tag']

/** Every sentence of a catalogue under its key; a function's sentence has the value `Visa` in it. */
function sentences(catalogue: object, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(catalogue).flatMap(([key, value]) => {
      const name = prefix + key
      if (typeof value === 'string') return [[name, value]]
      if (typeof value === 'function') return [[name, value('Visa')]]
      return [...sentences(value, `${name}.`)]
    }),
  )
}

const english = sentences(en)
const welsh = sentences(cy)

describe('The catalogues', () => {
  it('have the same keys, lists of paragraphs included', () => {
    assert.deepEqual([...welsh.keys()], [...english.keys()])
  })

  it('have no sentence that was left in English', () => {
    for (const [key, sentence] of welsh)
      if (!shared.includes(key)) assert.notEqual(sentence, english.get(key), key)
  })

  it('have no empty sentence, no straight apostrophe or quotation mark, no stray space', () => {
    for (const catalogue of [english, welsh])
      for (const [key, sentence] of catalogue) {
        assert.match(sentence, /^\S(.*\S)?$/, key)
        assert.doesNotMatch(sentence, /['"]| {2}/, key)
      }
  })

  it('No text names an HTTP method or a media type, which a payer does not know', () => {
    for (const catalogue of [english, welsh])
      for (const [key, sentence] of catalogue)
        assert.doesNotMatch(sentence, /\b(GET|HEAD|POST)\b|application\//, key)
  })

  it('put each value into its sentence', () => {
    for (const catalogue of [en, cy])
      for (const sentence of [
        catalogue.title('Visa'),
        catalogue.errorTitle('Visa'),
        catalogue.confirm.creditCard('Visa'),
        catalogue.confirm.debitCard('Visa'),
        catalogue.confirm.endingIn('Visa'),
      ])
        assert.match(sentence, /Visa/)
  })

  it('name the status and the code that each scenario leads to', () => {
    for (const { details } of [en, cy]) {
      assert.match(details.successHint, /success/)
      assert.match(details.capturableHint, /capturable/)
      assert.match(details.declinedHint, /failed.*\u00a0P0010/)
      assert.match(details.errorHint, /error.*\u00a0P0050/)
      assert.match(details.cancelHint, /failed.*\u00a0P0030/)
    }
  })
})
