import assert from 'node:assert/strict'
import { it } from 'node:test'
import { confirmPage, detailsPage, endPage, errorPage } from '../../src/pay/hosted/pages.ts'
import { html } from '../../src/platform/web/html.ts'
import { fc } from '../support/properties.ts'
import { elementsOf, only, tagged } from './document.ts'
import { card, form, payment, site } from './examples.ts'

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
const skeleton = (source: string) =>
  elementsOf(source).map(({ tag, attributes }) => [tag, ...Object.keys(attributes).sort()])

const pages: Record<string, (text: string) => string> = {
  'details page': text => {
    const address = { line1: text, line2: text, city: text, postcode: text }
    const given = { description: text, reference: text, email: text, cardholder_name: text }
    const all = { ...payment, ...given, billing_address: address }
    return detailsPage(site, all, { action: text, hidden: { [text]: text } }, { error: true })
  },
  'confirm page': text => {
    const shown = { card_brand: text, last_digits_card_number: text, expiry_date: text }
    const given = { ...payment, description: text, reference: text, email: text }
    return confirmPage(site, { ...given, card: { ...card, ...shown } }, form)
  },
  'end page': text => endPage(site, 'declined', { language: 'cy', returnUrl: text }),
  'not found page': text => errorPage({ basePath: text, serviceName: text }, 404),
}

for (const [name, make] of Object.entries(pages))
  it(`Hostile text adds no element and no attribute to the ${name}`, () => {
    for (const text of hostile) assert.deepEqual(skeleton(make(text)), skeleton(make('x')), text)
  })

it('Any text survives the template tag, both as text and in an attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      const found = only(elementsOf(html`<p title="${text}">${text}</p>`.toString()), tagged('p'))
      assert.equal(found.text, text)
      assert.equal(found.attributes.title, text)
    }),
  )
})

it('The template tag prints zero, nothing for undefined, false and empty text, and escapes strings in lists, but no finished HTML again', () => {
  assert.equal(html`[${undefined}${false}${''}${0}]`.toString(), '[0]')
  assert.equal(html`${['<', html`<br>`, ['&']]}`.toString(), '&lt;<br>&amp;')
})
