import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assets } from '../../src/platform/web/assets.ts'
import { classed, elementsOf, only, tagged } from '../hosted/document.ts'
import { type Answer, createClient } from '../support/client.ts'
import { ask } from '../support/control.ts'
import { onOneDatabase } from '../support/service.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'

onOneDatabase('The pages about the service', service => {
  const answers: Record<string, Answer> = {}
  before(async () => {
    for (const path of ['/', '/docs']) answers[path] = await service().anonymous.get(path)
  })

  const page = (path: string) => elementsOf(answers[path]?.text ?? '')

  // test/browser/documentation.test.ts tests headings and inline code, with axe and the policy of the pages.
  for (const path of ['/', '/docs']) {
    test(`${path} has the headers of the hosted pages`, async () => {
      const hosted = await service().anonymous.get('/secure/nothing')
      const kept = [
        ...(path === '/docs' ? [] : ['content-security-policy']),
        'cache-control',
        'x-frame-options',
        'permissions-policy',
        'content-type',
      ]
      for (const name of kept)
        assert.equal(answers[path]?.headers.get(name), hosted.headers.get(name), name)
    })

    test(`${path} loads the service's own assets and nothing else`, () => {
      const loaded = page(path)
        .filter(({ tag }) => ['link', 'script', 'img', 'iframe', 'object'].includes(tag))
        .map(({ attributes }) => attributes.href ?? attributes.src)
      const viewer = path === '/docs' ? [assets.docsCss, assets.docsJs] : []
      const names = [assets.css, assets.js, ...viewer, assets.icon]
      assert.deepEqual(
        loaded,
        names.map(name => `/assets/${name}`),
      )
    })

    test(`${path} has ids that are there once, and leads to these and to the service itself alone`, () => {
      const ids = page(path).flatMap(({ attributes }) => attributes.id ?? [])
      assert.equal(new Set(ids).size, ids.length)
      const within = ids.map(id => `#${id}`)
      const around = ['/docs', '/console', '/console/payments/new', '/openapi.json', '/']
      for (const { attributes } of page(path).filter(tagged('a')))
        assert.ok([...within, ...around].includes(attributes.href ?? ''), `${attributes.href}`)
    })
  }

  test('/docs has a policy of its own, which allows requests to its origin and nothing inline', () => {
    assert.equal(
      answers['/docs']?.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    )
  })

  test('/ shows the address that the reader used, and no key', () => {
    const text = answers['/']?.text ?? ''
    assert.ok(text.includes(service().baseUrl))
    assert.doesNotMatch(text, /farthing\.example|api_test_/)
    assert.ok(text.includes('Bearer YOUR_API_KEY'))
  })

  test('/ shows how to make a first payment, and the payment can be made', async () => {
    const [listing] = page('/').filter(classed('farthing-listing'))
    const [, body = ''] = /-d '(\{.*\})'/s.exec(listing?.text ?? '') ?? []
    const api = await service().newAccount()
    const answer = await api.post('/v1/payments', JSON.parse(body))
    assert.equal(answer.status, 201, answer.text)
  })
})

onOneDatabase(
  'The pages about a service that behaves as GOV.UK Pay',
  { env: { FARTHING_BEHAVIOUR: 'govuk-pay', FARTHING_API_KEY }, control: true },
  service => {
    test('/ says the behaviour of the default account as it is now, and /docs that of its document', async () => {
      const main = async (path: string) =>
        only(elementsOf((await service().anonymous.get(path)).text), tagged('main')).text
      const says = (now: string, other: string) =>
        new RegExp(`behaviour of the account default is ${now}: .* FARTHING_BEHAVIOUR=${other} `)
      assert.match(await main('/'), says('govuk-pay', 'specification'))
      const api = createClient(service().baseUrls, FARTHING_API_KEY)
      const reset = await ask(service(), api, 'reset', { behaviour: 'specification' })
      assert.equal(reset.status, 200)
      assert.match(await main('/'), says('specification', 'govuk-pay'))
      assert.match(await main('/docs'), /describes accounts with the behaviour govuk-pay\./)
    })
  },
)

const env = { FARTHING_BASE_URL: "https://pay.example.org/it's$&more" }

onOneDatabase('The pages about a service with an address of its own', { env }, service => {
  test('The pages about the service stay below the path of its address, and print it as text', async () => {
    const { anonymous } = service()
    for (const path of ['/', '/docs']) {
      const elements = elementsOf((await anonymous.get(path)).text)
      const links = elements.flatMap(({ attributes }) => attributes.href ?? attributes.src ?? [])
      for (const link of links) assert.match(link, /^(#|\/it's\$&more\/)/)
    }
    const { text } = only(elementsOf((await anonymous.get('/')).text), tagged('main'))
    assert.ok(text.includes(`${env.FARTHING_BASE_URL}/v1/payments`))
  })
})
