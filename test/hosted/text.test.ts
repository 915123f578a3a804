import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cy } from '../../src/pay/hosted/text.cy.ts'
import { en } from '../../src/pay/hosted/text.en.ts'

const shared = ['shell.banner.tag']

/** Every text of a catalogue by its key. Functions are called with `Visa`. */
function textsOf(catalogue: object, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(catalogue).flatMap(([key, given]) => {
      const name = prefix + key
      // A text with marked words is a String object.
      const value = given instanceof String ? `${given}` : given
      if (typeof value === 'string') return [[name, value]]
      if (typeof value === 'function') return [[name, value('Visa')]]
      return [...textsOf(value, `${name}.`)]
    }),
  )
}

const english = textsOf(en)
const welsh = textsOf(cy)
const all = [...english, ...welsh]

it('Both languages have the same keys and the same number of paragraphs', () => {
  assert.deepEqual([...welsh.keys()], [...english.keys()])
})

it('No Welsh text is the same as the English one', () => {
  for (const [key, text] of welsh)
    if (!shared.includes(key)) assert.notEqual(text, english.get(key), key)
})

it('No text is empty, has a straight apostrophe, a straight quotation mark or a stray space, or names an HTTP method or a media type', () => {
  for (const [key, text] of all) {
    const words = text.replace(/<[^>]+>/g, '')
    assert.match(words, /^\S(.*\S)?$/, key)
    assert.doesNotMatch(words, /['"]| {2}/, key)
    assert.doesNotMatch(text, /\b(GET|HEAD|POST)\b|\w\/\w/, key)
  }
})

it('A text that takes a value contains it', () => {
  for (const { errorTitle, confirm } of [en, cy])
    for (const make of [errorTitle, confirm.creditCard, confirm.debitCard, confirm.endingIn])
      assert.match(make('Visa'), /Visa/)
})

it('Each scenario names its status and its code, which stays on the line of the word before it', () => {
  for (const { details } of [en, cy]) {
    assert.match(`${details.successHint}`, /success/)
    assert.match(`${details.capturableHint}`, /capturable/)
    assert.match(`${details.declinedHint}`, /failed.*\u00a0P0010/)
    assert.match(`${details.errorHint}`, /error.*\u00a0P0050/)
    assert.match(`${details.cancelHint}`, /failed.*\u00a0P0030/)
  }
})
