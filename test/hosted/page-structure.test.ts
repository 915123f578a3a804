import assert from 'node:assert/strict'
import { it } from 'node:test'
import { messages } from '../../src/pay/hosted/pages.ts'
import { classed, elementsOf, only, tagged } from './document.ts'
import { examples, returnUrl, site } from './examples.ts'

// test/browser tests ids, headings, inline code and other sites, with axe and the policy of the pages.
for (const { name, language, source } of examples) {
  const elements = elementsOf(source)
  const text = messages[language]

  it(`The page declares its language, and its title is the h1 followed by the name of the service: ${name}`, () => {
    assert.equal(only(elements, tagged('html')).attributes.lang, language)
    const heading = only(elements, tagged('h1')).text
    const title = only(elements, tagged('title')).text
    const service = ` - ${text.shell.serviceName}`
    assert.ok(title === heading + service || title === text.errorTitle(heading) + service, title)
  })

  it(`The page has a skip link, a header with the Demo banner, a main part and a footer: ${name}`, () => {
    const { skipLink, banner, footer } = text.shell
    const link = only(elements, classed('govuk-skip-link'))
    const { id } = only(elements, tagged('main')).attributes
    assert.deepEqual([link.attributes.href, link.text], [`#${id}`, skipLink])
    const header = only(elements, tagged('header'))
    assert.equal(only(header.inside, tagged('strong')).text, 'Demo')
    assert.ok(header.text.includes(banner.text))
    assert.equal(only(elements, tagged('footer')).text.trim(), footer)
  })

  it(`Links and forms lead to the pages or to return_url and nowhere else: ${name}`, () => {
    for (const { attributes } of elements.filter(tagged('a')))
      assert.ok(attributes.href === returnUrl || attributes.href?.startsWith('#'))
    for (const { attributes } of elements.filter(tagged('form')))
      assert.ok(attributes.action?.startsWith(`${site.basePath}/secure`))
  })

  it(`The page is less than 10 KB and prints no missing value: ${name}`, () => {
    assert.ok(Buffer.byteLength(source) < 10_000)
    assert.doesNotMatch(source, /undefined|null|\[object|NaN|=>/)
  })
}

for (const { name, source } of examples.filter(({ name }) => name.startsWith('fault')))
  it(`The page has a section in Welsh, because the reader’s language is not known: ${name}`, () => {
    const welsh = only(elementsOf(source), element => element.attributes.lang === 'cy')
    for (const tag of ['h2', 'p']) assert.ok(welsh.inside.some(tagged(tag)), tag)
  })
