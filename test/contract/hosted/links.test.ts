import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, only, tagged, withId } from '../../hosted/document.ts'
import { assertError } from '../../support/assertions.ts'
import { type Body, webPayment } from '../../support/client.ts'
import { formOf, headings, met, pageOf, press } from '../../support/hosted-page.ts'
import { choose, newPayment, read, statusesOf } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const NOT_FOUND: [number, string] = [404, 'Page not found']

const tokenOf = (payment: Body): string => payment._links.next_url_post.params.chargeTokenId

onSharedDatabases('Hosted pages: links', service => {
  test('a mistyped link, and one with the one-time token of a moto_api payment, show the Page not found page', async () => {
    const { api, payment } = await newPayment(service())
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    const token = tokenOf(payment)
    const other = tokenOf(await api.createPayment())
    const mistyped = [
      moto._links.auth_url_post.params.one_time_token,
      token.slice(0, -1),
      `${token}0`,
      token.slice(1),
      token.slice(0, -1) + (token.endsWith('0') ? '1' : '0'),
      token.slice(0, 26) + other.slice(26),
      token.slice(0, 26),
      token.slice(26),
      token.toUpperCase(),
      `${token}%20`,
      `${token}%00`,
      `${token}%0A`,
      '0'.repeat(52),
      'z'.repeat(52),
      '%F0%9F%92%B7',
      '..%2f..%2fetc',
      "'%20or%201=1--",
      'x'.repeat(15_000),
      'constructor',
    ]
    for (const wrong of mistyped) {
      assert.deepEqual(met(await api.get(`/secure/${wrong}`)), NOT_FOUND, wrong)
      const posted = await api.postForm(`/secure/${wrong}`, { scenario: 'success' })
      assert.deepEqual(met(posted), NOT_FOUND, wrong)
      assert.deepEqual(met(await api.get(`/secure/${wrong}/confirm`)), NOT_FOUND, wrong)
      const inForm = await api.postForm('/secure', { chargeTokenId: decodeURIComponent(wrong) })
      assert.deepEqual(met(inForm), NOT_FOUND, wrong)
    }
    for (const each of [payment, moto]) assert.deepEqual(await read(api, each), each)
  })

  test('POST /secure shows the Page not found page when chargeTokenId is missing, empty, repeated or in the query', async () => {
    const { api, payment } = await newPayment(service())
    const chargeTokenId = tokenOf(payment)
    const query = `/secure?${new URLSearchParams({ chargeTokenId })}`
    const given = ['chargeTokenId', chargeTokenId] as [string, string]
    for (const [path, form] of [
      ['/secure', []],
      ['/secure', [['chargeTokenId', '']]],
      ['/secure', [given, given]],
      ['/secure', [['chargetokenid', chargeTokenId]]],
      [query, []],
    ] as [path: string, form: [string, string][]][])
      for (const step of [[], [['step', 'details']], [['step', 'confirm']]] as (typeof form)[])
        assert.deepEqual(met(await api.postForm(path, [...form, ...step])), NOT_FOUND)
    assert.deepEqual(met(await api.get(query)), NOT_FOUND)
    assert.deepEqual(await read(api, payment), payment)
  })

  test('the forms of POST /secure lead through the whole journey without the token in any address', async () => {
    const { api, payment } = await newPayment(service())
    const details = await api.postForm('/secure', payment._links.next_url_post.params)
    const nothing = await press(api, details, 'submit-card-details')
    assert.deepEqual(met(nothing), [400, headings.details])
    const confirm = await press(api, nothing, 'submit-card-details', [['scenario', 'success']])
    assert.deepEqual(met(confirm), [200, headings.confirm])
    const done = await press(api, confirm, 'confirm')
    assert.deepEqual(met(done), [303, payment.return_url])
    for (const { text } of [details, nothing, confirm])
      for (const [, address = ''] of text.matchAll(/(?:href|src|action)="([^"]*)"/g))
        assert.ok(!address.includes(tokenOf(payment)), address)
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', 'success'])
  })

  test('every page accepts one slash at the end of its path, and one journey may use both POST /secure and /secure/{token}', async () => {
    const { api, payment } = await newPayment(service())
    const page = pageOf(payment)
    assert.deepEqual(met(await api.get(`${page}/`)), [200, headings.details])
    const chosen = await api.postForm(`${page}/`, { scenario: 'success' })
    assert.deepEqual(met(chosen), [303, `/secure/${tokenOf(payment)}/confirm`])
    const form = { ...payment._links.next_url_post.params, step: 'details', scenario: 'success' }
    assert.deepEqual(met(await api.postForm('/secure/', form)), [200, headings.confirm])
    assert.deepEqual(met(await api.get(`${page}/confirm/`)), [200, headings.confirm])
    assert.deepEqual(met(await api.postForm(`${page}/confirm/`, {})), [303, payment.return_url])
  })
})

onOneDatabase('Hosted pages: return_url', service => {
  test('the browser is redirected to the exact return_url, or in ASCII where it has other characters', async () => {
    const api = await service().newAccount()
    for (const [return_url, location = return_url] of [
      ['https://markets.example.org/paid?pitch=22&week=38#top'],
      ['HTTPS://Markets.Example.ORG:443/Paid/../41?a=%7e&b="<>\''],
      ['https://user:word@markets.example.org/a;b,c|d^e`f{g}'],
      ['https://example.org/tâl?q=£', 'https://example.org/t%C3%A2l?q=%C2%A3'],
      ['https://tŷ.example/\u{1F4B7}#ôl', 'https://xn--t-foa.example/%F0%9F%92%B7#%C3%B4l'],
    ] as [given: string, location?: string][]) {
      const payment = await api.createPayment({ return_url })
      const declined = await choose(api, payment, 'declined')
      const link = only(elementsOf(declined.text), withId('return-url'))
      assert.equal(link.attributes.href, return_url)
      assert.deepEqual(met(await api.get(pageOf(payment))), [303, location])
    }
  })
})

const listed = { FARTHING_RETURN_HOSTS: 'localhost:8080,shop.internal' }

onOneDatabase('Hosted pages: FARTHING_RETURN_HOSTS', { env: listed }, service => {
  // test/webhooks/address.test.ts tests how a list is read, test/browser/journeys.test.ts the policy that it changes.
  test('a return_url may be http if its host is listed, alone or with this port', async () => {
    const api = await service().newAccount()
    for (const return_url of ['HTTP://LOCALHOST:8080', 'http://shop.internal:9000/'])
      assert.equal((await api.createPayment({ return_url })).return_url, return_url)
    for (const [return_url, host] of [
      ['http://localhost:8081/', 'localhost:8081'],
      ['http://x@shop.internal.example.org/', 'shop.internal.example.org'],
      ['ftp://shop.internal/'],
    ] as [given: string, host?: string][]) {
      const answer = await api.post('/v1/payments', { ...webPayment, return_url })
      assertError(answer, 422, 'P0102', { field: 'return_url' })
      const advice = `=${host}, or in a test startFarthing({ returnHosts: '${host}' })`
      assert.match(answer.body.description, /FARTHING_RETURN_HOSTS/)
      if (host) assert.ok(answer.body.description.endsWith(`: FARTHING_RETURN_HOSTS${advice}`))
    }
  })
})

const FARTHING_SERVICE_NAME = "Rowan's <b>market</b> & more"

onOneDatabase(
  'Hosted pages: FARTHING_PAGES_URL and FARTHING_SERVICE_NAME',
  { env: { FARTHING_PAGES_URL: 'https://pay.example.org/demo/farthing/', FARTHING_SERVICE_NAME } },
  service => {
    // test/contract/http/addresses.test.ts tests the links of the API to the pages.
    test('forms, redirects and assets are below the path of FARTHING_PAGES_URL', async () => {
      const { api, payment } = await newPayment(service())
      const token = tokenOf(payment)
      const here = `/secure/${token}`
      const page = await api.get(here)
      for (const button of ['submit-card-details', 'cancel-payment'])
        assert.equal(formOf(page, button).action, `/demo/farthing${here}`)
      const notChosen = await api.get(`${here}/confirm`)
      assert.deepEqual(met(notChosen), [303, `/demo/farthing${here}`])
      const chosen = await api.postForm(here, { scenario: 'success' })
      assert.deepEqual(met(chosen), [303, `/demo/farthing${here}/confirm`])
      const confirm = await api.get(`${here}/confirm`)
      assert.equal(formOf(confirm, 'confirm').action, `/demo/farthing${here}/confirm`)
      const hidden = await api.postForm('/secure', { chargeTokenId: token })
      assert.equal(formOf(hidden, 'submit-card-details').action, '/demo/farthing/secure')

      const addresses = /<(?:link|script)[^>]*(?:href|src)="([^"]*)"/g
      for (const { text } of [page, confirm, hidden, await api.get('/secure/mistyped')])
        for (const [, address = ''] of text.matchAll(addresses))
          assert.match(address, /^\/demo\/farthing\/assets\//)
    })

    test('the header and the title of a page, and of an error page, have FARTHING_SERVICE_NAME, escaped', async () => {
      const { api, payment } = await newPayment(service(), { language: 'cy' })
      for (const path of [`/secure/${tokenOf(payment)}`, '/secure/none']) {
        const elements = elementsOf((await api.get(path)).text)
        const title = only(elements, tagged('title')).text
        assert.ok(title.endsWith(` - ${FARTHING_SERVICE_NAME}`), title)
        const header = only(elements, tagged('header')).text
        assert.ok(header.includes(FARTHING_SERVICE_NAME), header)
        assert.doesNotMatch(header, /Farthing/)
      }
    })
  },
)
