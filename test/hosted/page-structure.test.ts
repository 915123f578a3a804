import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messages } from '../../src/hosted/pages.ts'
import { assets } from '../../src/web/assets.ts'
import { elementsOf, only, tagged, withId } from './document.ts'
import { examples, returnUrl, shell } from './examples.ts'

for (const { name, language, source } of examples) {
  const elements = elementsOf(source)
  const text = messages[language]

  describe(`Every page has the same frame: ${name}`, () => {
    it('declares its language, and Welsh where it is Welsh', () => {
      assert.equal(only(elements, tagged('html')).attributes.lang, language)
    })

    it('has one h1, and a title that begins with it and ends with the service’s name', () => {
      const heading = only(elements, tagged('h1')).text
      const title = only(elements, tagged('title')).text
      assert.ok([text.title(heading), text.errorTitle(heading)].includes(title), title)
    })

    it('has no heading below h2, and before its h1 only that of the error summary', () => {
      const headings = elements.filter(({ tag }) => /^h\d$/.test(tag))
      for (const { tag } of headings) assert.match(tag, /^h[12]$/)
      const before = headings
        .slice(0, headings.findIndex(tagged('h1')))
        .map(({ text }) => text.trim())
      assert.ok(before.length === 0 || before.join() === text.details.errorSummaryTitle)
    })

    it('has one header, main and footer, and a skip link that leads to main', () => {
      only(elements, tagged('header'))
      only(elements, tagged('footer'))
      const main = only(elements, tagged('main'))
      const skip = only(elements, element => element.attributes.class === 'govuk-skip-link')
      assert.equal(skip.attributes.href, `#${main.attributes.id}`)
      assert.equal(skip.text, text.shell.skipLink)
    })

    it('carries the Demo banner in its header', () => {
      const header = only(elements, tagged('header'))
      assert.equal(only(header.inside, tagged('strong')).text, 'Demo')
      assert.ok(header.text.includes(text.shell.banner.text))
    })

    it('says in its footer that it is no government website', () => {
      assert.equal(only(elements, tagged('footer')).text.trim(), text.shell.footer)
    })

    it('has ids once each, and no reference to an id that is not there', () => {
      const ids = elements.flatMap(({ attributes }) => attributes.id ?? [])
      assert.equal(new Set(ids).size, ids.length)
      const references = elements.flatMap(({ attributes }) => [
        ...(attributes['aria-describedby']?.split(' ') ?? []),
        ...(attributes.for === undefined ? [] : [attributes.for]),
        ...(attributes.href?.startsWith('#') ? [attributes.href.slice(1)] : []),
      ])
      for (const reference of references) assert.ok(ids.includes(reference), reference)
    })

    it('keeps to its content security policy: no inline script, style or handler', () => {
      for (const { tag, attributes, text: content } of elements) {
        assert.notEqual(tag, 'style')
        if (tag === 'script') assert.equal(content, '')
        for (const attribute of Object.keys(attributes))
          assert.doesNotMatch(attribute, /^(on|style)/)
      }
    })

    it('loads its own built assets and nothing else', () => {
      const loaded = elements
        .filter(({ tag }) => ['link', 'script', 'img', 'iframe', 'use'].includes(tag))
        .map(({ attributes }) => attributes.href ?? attributes.src)
      const names = [assets.css, assets.js, assets.icon]
      assert.deepEqual(
        loaded,
        names.map(file => `${shell.basePath}/assets/${file}`),
      )
    })

    it('leads nowhere but to itself and back to the client', () => {
      const links = elements.filter(tagged('a')).map(({ attributes }) => attributes.href)
      for (const href of links) assert.ok(href === returnUrl || href?.startsWith('#'), `${href}`)
      for (const { attributes } of elements.filter(tagged('form')))
        assert.ok(attributes.action?.startsWith(`${shell.basePath}/secure`))
    })
  })
}

describe('Pages whose reader’s language is not known', () => {
  for (const { name, source } of examples.filter(({ name }) => /not found|fault/.test(name)))
    it(`say it in Welsh too: ${name}`, () => {
      const welsh = only(elementsOf(source), element => element.attributes.lang === 'cy')
      assert.ok(welsh.inside.some(tagged('h2')))
      assert.ok(welsh.inside.some(tagged('p')))
    })
})

describe('Ids that tests of calling services look for', () => {
  const where: [id: string, page: string][] = [
    ['submit-card-details', 'details (en)'],
    ['cancel-payment', 'details (en)'],
    ['payment-description', 'details (en)'],
    ['amount', 'details (en)'],
    ['payment-description', 'confirm (en)'],
    ['amount', 'confirm (en)'],
    ['card-number', 'confirm (en)'],
    ['expiry-date', 'confirm (en)'],
    ['cardholder-name', 'confirm (en)'],
    ['address', 'confirm (en)'],
    ['email', 'confirm (en)'],
    ['confirm', 'confirm (en)'],
    ['cancel-payment', 'confirm (en)'],
    ['return-url', 'cancelled (en)'],
    ['return-url', 'declined (en)'],
    ['return-url', 'technical problems (en)'],
  ]
  for (const [id, page] of where)
    it(`#${id} on ${page}`, () => {
      const example = examples.find(({ name }) => name === page)
      assert.ok(example)
      only(elementsOf(example.source), withId(id))
    })
})
