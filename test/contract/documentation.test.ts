import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assets } from '../../src/platform/web/assets.ts'
import { classed, elementsOf, type Found, only, tagged } from '../hosted/document.ts'
import { type Answer, type Body, createClient } from '../support/client.ts'
import { ask } from '../support/control.ts'
import { onOneDatabase } from '../support/service.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'

onOneDatabase('The pages about the service', service => {
  let document: Body
  const answers: Record<string, Answer> = {}
  const pages: Record<string, Found[]> = {}
  before(async () => {
    const { anonymous } = service()
    document = (await anonymous.get('/openapi.json')).body
    for (const path of ['/', '/docs']) {
      const answer = await anonymous.get(path)
      answers[path] = answer
      pages[path] = elementsOf(answer.text)
    }
  })

  const page = (path: string): Found[] => pages[path] ?? []

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

    test(`${path} keeps to its policy: no inline script, style or handler`, () => {
      for (const { tag, attributes, text } of page(path)) {
        assert.notEqual(tag, 'style')
        if (tag === 'script') assert.equal(text, '')
        for (const name of Object.keys(attributes)) assert.doesNotMatch(name, /^(on|style)/)
      }
    })

    test(`${path} has one h1, headings without gaps, and ids that are there once`, () => {
      only(page(path), tagged('h1'))
      let level = 0
      for (const { tag } of page(path).filter(({ tag }) => /^h[1-6]$/.test(tag))) {
        assert.ok(Number(tag[1]) <= level + 1, `${tag} after h${level}`)
        level = Number(tag[1])
      }
      const ids = page(path).flatMap(({ attributes }) => attributes.id ?? [])
      assert.equal(new Set(ids).size, ids.length)
      for (const { attributes } of page(path).filter(tagged('a')))
        if (attributes.href?.startsWith('#'))
          assert.ok(ids.includes(attributes.href.slice(1)), attributes.href)
    })

    test(`${path} leads nowhere but to the service itself`, () => {
      for (const { attributes } of page(path).filter(tagged('a')))
        assert.match(
          attributes.href ?? '',
          /^(#|\/docs$|\/console(\/payments\/new)?$|\/openapi\.json$|\/$)/,
        )
    })
  }

  test('/docs has a policy of its own, which allows requests to its origin and nothing inline', () => {
    assert.equal(
      answers['/docs']?.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    )
  })

  test('/ and /openapi.json show the address that the reader used, and no key', () => {
    for (const text of [answers['/']?.text ?? '', JSON.stringify(document)]) {
      assert.ok(text.includes(service().baseUrl))
      assert.doesNotMatch(text, /farthing\.example|api_test_/)
    }
    assert.ok(answers['/']?.text.includes('Bearer YOUR_API_KEY'))
  })

  test('/ shows how to make a first payment, and the payment can be made', async () => {
    const [listing] = page('/').filter(classed('farthing-listing'))
    const [, body = ''] = /-d '(\{.*\})'/s.exec(listing?.text ?? '') ?? []
    const api = await service().newAccount()
    const answer = await api.post('/v1/payments', JSON.parse(body))
    assert.equal(answer.status, 201, answer.text)
  })

  test('every example of a body that needs nothing else is taken', async () => {
    const api = await service().newAccount()
    const taken: Record<string, number> = {}
    for (const path of ['/v1/payments', '/v1/agreements', '/v1/webhooks']) {
      const content = document.paths[path].post.requestBody.content['application/json']
      for (const { value } of Object.values<Body>(content.examples)) {
        if (value.agreement_id || value.set_up_agreement) continue
        const { status, text } = await api.post(path, value)
        assert.equal(status, 201, text)
        taken[path] = (taken[path] ?? 0) + 1
      }
    }
    assert.deepEqual(taken, { '/v1/payments': 3, '/v1/agreements': 1, '/v1/webhooks': 1 })
  })
})

onOneDatabase(
  'The pages about a service that behaves as GOV.UK Pay',
  { env: { FARTHING_BEHAVIOUR: 'govuk-pay', FARTHING_API_KEY }, control: true },
  service => {
    test('/ says the behaviour of the default account as it is now, and /docs that of its document', async () => {
      const { anonymous } = service()
      const main = async (path: string) =>
        only(elementsOf((await anonymous.get(path)).text), tagged('main')).text
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
