import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messages } from '../../src/pay/hosted/pages.ts'
import { assets } from '../../src/platform/web/assets.ts'
import { elementsOf, only, tagged, withId } from './document.ts'
import { examples, returnUrl, site } from './examples.ts'

for (const { name, language, source } of examples) {
  const elements = elementsOf(source)
  const text = messages[language]

  describe(`The structure of the page: ${name}`, () => {
    it(`The page declares its language: ${name}`, () => {
      assert.equal(only(elements, tagged('html')).attributes.lang, language)
    })

    it(`The title is the h1 followed by the name of the service: ${name}`, () => {
      const heading = only(elements, tagged('h1')).text
      const title = only(elements, tagged('title')).text
      const service = ` - ${text.shell.serviceName}`
      assert.ok(title === heading + service || title === text.errorTitle(heading) + service, title)
    })

    it(`Only the error summary has a heading before the h1, and no heading is below h2: ${name}`, () => {
      const headings = elements.filter(({ tag }) => /^h\d$/.test(tag))
      for (const { tag } of headings) assert.match(tag, /^h[12]$/)
      const before = headings
        .slice(0, headings.findIndex(tagged('h1')))
        .map(({ text }) => text.trim())
      assert.ok(before.length === 0 || before.join() === text.details.errorSummaryTitle)
    })

    it(`The page has a skip link, a header with the Demo banner, a main part and a footer: ${name}`, () => {
      const { skipLink, banner, footer } = text.shell
      const link = only(elements, element => element.attributes.class === 'govuk-skip-link')
      const { id } = only(elements, tagged('main')).attributes
      assert.equal(link.attributes.href, `#${id}`)
      assert.equal(link.text, skipLink)
      const header = only(elements, tagged('header'))
      assert.equal(only(header.inside, tagged('strong')).text, 'Demo')
      assert.ok(header.text.includes(banner.text))
      assert.equal(only(elements, tagged('footer')).text.trim(), footer)
    })

    it(`Ids are unique and every reference to an id leads somewhere: ${name}`, () => {
      const ids = elements.flatMap(({ attributes }) => attributes.id ?? [])
      assert.equal(new Set(ids).size, ids.length)
      const references = elements.flatMap(({ attributes }) => [
        ...(attributes['aria-describedby']?.split(' ') ?? []),
        ...(attributes.for === undefined ? [] : [attributes.for]),
        ...(attributes.href?.startsWith('#') ? [attributes.href.slice(1)] : []),
      ])
      for (const reference of references) assert.ok(ids.includes(reference), reference)
    })

    it(`The page has no inline script, style or event handler, which its policy forbids: ${name}`, () => {
      for (const { tag, attributes, text: content } of elements) {
        assert.notEqual(tag, 'style')
        if (tag === 'script') assert.equal(content, '')
        for (const attribute of Object.keys(attributes))
          assert.doesNotMatch(attribute, /^(on|style)/)
      }
    })

    it(`The page loads the built assets and nothing else: ${name}`, () => {
      const loaded = elements
        .filter(({ tag }) => ['link', 'script', 'img', 'iframe', 'use'].includes(tag))
        .map(({ attributes }) => attributes.href ?? attributes.src)
      const names = [assets.css, assets.js, assets.icon]
      assert.deepEqual(
        loaded,
        names.map(file => `${site.basePath}/assets/${file}`),
      )
    })

    it(`Links and forms lead to the pages or to return_url and nowhere else: ${name}`, () => {
      const links = elements.filter(tagged('a')).map(({ attributes }) => attributes.href)
      for (const href of links) assert.ok(href === returnUrl || href?.startsWith('#'), `${href}`)
      for (const { attributes } of elements.filter(tagged('form')))
        assert.ok(attributes.action?.startsWith(`${site.basePath}/secure`))
    })

    it(`The page is less than 10 KB and prints no missing value: ${name}`, () => {
      assert.ok(Buffer.byteLength(source) < 10_000)
      assert.doesNotMatch(source, /undefined|null|\[object|NaN|=>/)
    })
  })
}

describe('The language and the ids of the pages', () => {
  for (const { name, source } of examples.filter(({ name }) => name.startsWith('fault')))
    it(`The page has a section in Welsh, because the reader’s language is not known: ${name}`, () => {
      const welsh = only(elementsOf(source), element => element.attributes.lang === 'cy')
      assert.ok(welsh.inside.some(tagged('h2')))
      assert.ok(welsh.inside.some(tagged('p')))
    })

  const summary = ['payment-description', 'amount', 'cardholder-name', 'address', 'email']
  const ids: Record<string, string[]> = {
    'details, prefilled (en)': ['submit-card-details', 'cancel-payment', ...summary],
    'confirm (en)': ['confirm', 'cancel-payment', 'card-number', 'expiry-date', ...summary],
    'cancelled (en)': ['return-url'],
    'declined (en)': ['return-url'],
    'technical problems (en)': ['return-url'],
    'refused (en)': ['return-url'],
  }
  for (const [page, wanted] of Object.entries(ids))
    it(`The page has the ids that test suites of calling services look for: ${page}`, () => {
      const elements = elementsOf(examples.find(({ name }) => name === page)?.source ?? '')
      for (const id of wanted) only(elements, withId(id))
    })
})
