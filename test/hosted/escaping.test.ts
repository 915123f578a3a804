import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { confirmPage, detailsPage, endPage, faultPage } from '../../src/hosted/pages.ts'
import { html } from '../../src/web/html.ts'
import { elementsOf, only, tagged, withId } from './document.ts'
import { card, examples, form, payment, shell } from './examples.ts'

const hostile = [
  '<script>alert(1)</script>',
  '</title></dd><img src=x onerror=alert(1)>',
  '" autofocus onfocus="alert(1)',
  "' onmouseover='alert(1)",
  '&lt;b&gt; &amp; &quot;',
  '<!-- --><![CDATA[ ]]>',
  '{{7*7}} {%7%} <%= 7 %> #{7}',
  '\u202Eevil\u2066 \u0000\uFFFD \u{1F4B7}',
]

/** The tags and attribute names of a page, which no text may change. */
function skeleton(source: string): string[] {
  return elementsOf(source).map(
    ({ tag, attributes }) => `${tag} ${Object.keys(attributes).sort().join(' ')}`,
  )
}

describe('What a client or a browser wrote', () => {
  const harmless = 'harmless'
  const pages: [name: string, make: (text: string) => string][] = [
    [
      'details page',
      text => {
        const address = { line1: text, line2: text, city: text, postcode: text }
        const given = { description: text, reference: text, email: text, cardholder_name: text }
        const all = { ...payment, ...given, billing_address: address }
        return detailsPage(shell, all, { action: text, hidden: { [text]: text } }, { error: true })
      },
    ],
    [
      'confirm page',
      text => {
        const shown = { card_brand: text, last_digits_card_number: text, expiry_date: text }
        const given = { ...payment, description: text, reference: text, email: text }
        return confirmPage(shell, { ...given, card: { ...card, ...shown } }, form)
      },
    ],
    ['end page', text => endPage(shell, 'declined', 'cy', text)],
    ['not found page', text => faultPage({ basePath: text }, 404)],
  ]
  for (const [name, make] of pages)
    for (const text of hostile)
      it(`stays text on the ${name}: ${JSON.stringify(text)}`, () => {
        assert.deepEqual(skeleton(make(text)), skeleton(make(harmless)))
      })

  it('is shown as it was written', () => {
    for (const description of hostile.slice(0, -1)) {
      const source = detailsPage(shell, { ...payment, description }, form, { error: false })
      const values = elementsOf(source).filter(tagged('dd'))
      assert.equal(values[0]?.text, description)
    }
  })

  it('leads to exactly the return_url that was given', () => {
    const url = `https://example.org/a?b="c"&amp;d=<e>&f='g'#h`
    const link = only(elementsOf(endPage(shell, 'cancelled', 'en', url)), withId('return-url'))
    assert.equal(link.attributes.href, url)
  })

  it('survives the template tag, as text and in an attribute, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        const found = only(elementsOf(html`<p title="${text}">${text}</p>`.toString()), tagged('p'))
        assert.equal(found.text, text)
        assert.equal(found.attributes.title, text)
      }),
    )
  })
})

describe('The template tag', () => {
  it('leaves nothing where there is nothing, and keeps zero', () => {
    assert.equal(html`[${undefined}${false}${''}${0}]`.toString(), '[0]')
  })

  it('escapes strings in lists, and finished HTML not a second time', () => {
    assert.equal(html`${['<', html`<br>`, ['&']]}`.toString(), '&lt;<br>&amp;')
  })
})

it('No page holds a value that was forgotten', () => {
  for (const { name, source } of examples)
    assert.doesNotMatch(source, /undefined|null|\[object|NaN|=>/, name)
})
