import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { elementsOf, only, tagged, withId } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { formOf, met, pageOf } from '../../support/hosted-page.ts'
import { choose, newPayment, read } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const NOT_FOUND: [number, string] = [404, 'Page not found']

const tokenOf = (payment: Body): string => payment._links.next_url_post.params.chargeTokenId

onSharedDatabases('Hosted pages: links', service => {
  describe('unknown links', () => {
    test('a mistyped link shows the Page not found page', async () => {
      const { api, payment } = await newPayment(service())
      const token = tokenOf(payment)
      const other = tokenOf(await api.createPayment())
      const mistyped = [
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
        const inForm = await api.postForm('/secure', { chargeTokenId: decodeLoosely(wrong) })
        assert.deepEqual(met(inForm), NOT_FOUND, wrong)
      }
      assert.deepEqual(await read(api, payment), payment)
    })

    test('the one-time token of a moto_api payment opens no page', async () => {
      const { api, payment } = await newPayment(service(), { authorisation_mode: 'moto_api' })
      const { one_time_token } = payment._links.auth_url_post.params
      assert.deepEqual(met(await api.get(`/secure/${one_time_token}`)), NOT_FOUND)
      const form = { scenario: 'declined' }
      assert.deepEqual(met(await api.postForm(`/secure/${one_time_token}`, form)), NOT_FOUND)
      assert.deepEqual(
        met(await api.postForm('/secure', { chargeTokenId: one_time_token })),
        NOT_FOUND,
      )
      assert.deepEqual(await read(api, payment), payment)
    })
  })

  describe('slash at the end', () => {
    test('every page accepts one slash at the end of its path', async () => {
      const { api, payment } = await newPayment(service())
      const page = pageOf(payment)
      assert.deepEqual(met(await api.get(`${page}/`)), [200, 'Enter payment details'])
      const chosen = await api.postForm(`${page}/`, { scenario: 'success' })
      assert.deepEqual(met(chosen), [303, `/secure/${tokenOf(payment)}/confirm`])
      assert.deepEqual(met(await api.get(`${page}/confirm/`)), [200, 'Confirm your payment'])
      const hidden = await api.postForm('/secure/', payment._links.next_url_post.params)
      assert.deepEqual(met(hidden), [200, 'Enter payment details'])
      assert.deepEqual(met(await api.postForm(`${page}/confirm/`, {})), [303, payment.return_url])
    })
  })
})

onOneDatabase('Hosted pages: return_url', service => {
  const asGiven = [
    'https://markets.example.org/paid?pitch=22&week=38#top',
    'HTTPS://Markets.Example.ORG:443/Paid/../41?a=%7e&b="<>\'',
    'https://user:word@markets.example.org/a;b,c|d^e`f{g}',
  ]
  test('the browser is redirected to the exact return_url', async () => {
    const api = await service().newAccount()
    for (const return_url of asGiven) {
      const payment = await api.createPayment({ return_url })
      const declined = await choose(api, payment, 'declined')
      const link = only(elementsOf(declined.text), withId('return-url'))
      assert.equal(link.attributes.href, return_url)
      assert.deepEqual(met(await api.get(pageOf(payment))), [303, return_url])
    }
  })

  const inAscii: [given: string, location: string][] = [
    ['https://example.org/tâl?q=£', 'https://example.org/t%C3%A2l?q=%C2%A3'],
    ['https://tŷ.example/\u{1F4B7}#ôl', 'https://xn--t-foa.example/%F0%9F%92%B7#%C3%B4l'],
  ]
  for (const [return_url, location] of inAscii)
    test(`a return_url with non-ASCII characters is redirected to in ASCII: ${return_url}`, async () => {
      const { api, payment } = await newPayment(service(), { return_url })
      const cancelled = await choose(api, payment, 'cancel')
      const link = only(elementsOf(cancelled.text), withId('return-url'))
      assert.equal(link.attributes.href, return_url)
      const [status, where] = met(await api.get(pageOf(payment)))
      assert.deepEqual([status, where], [303, location])
      assert.equal(new URL(return_url).href, location)
      assert.equal((await read(api, payment)).return_url, return_url)
    })
})

/** Decodes a path for a form field, or returns it unchanged when it cannot be decoded. */
function decodeLoosely(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const FARTHING_SERVICE_NAME = "Rowan's <b>market</b> & more"

onOneDatabase(
  'Hosted pages: FARTHING_PAGES_URL and FARTHING_SERVICE_NAME',
  { env: { FARTHING_PAGES_URL: 'https://pay.example.org/demo/farthing/', FARTHING_SERVICE_NAME } },
  service => {
    test('links, forms, redirects and assets are below the path of FARTHING_PAGES_URL', async () => {
      const { api, payment } = await newPayment(service())
      const token = tokenOf(payment)
      const base = 'https://pay.example.org/demo/farthing'
      assert.equal(pageOf(payment), `${base}/secure/${token}`)
      assert.equal(payment._links.next_url_post.href, `${base}/secure`)

      const here = `/secure/${token}`
      const page = await api.get(here)
      assert.equal(formOf(page, 'submit-card-details').action, `/demo/farthing${here}`)
      assert.equal(formOf(page, 'cancel-payment').action, `/demo/farthing${here}`)
      const notChosen = await api.get(`${here}/confirm`)
      assert.deepEqual(met(notChosen), [303, `/demo/farthing${here}`])
      const chosen = await api.postForm(here, { scenario: 'success' })
      assert.deepEqual(met(chosen), [303, `/demo/farthing${here}/confirm`])
      const confirm = await api.get(`${here}/confirm`)
      assert.equal(formOf(confirm, 'confirm').action, `/demo/farthing${here}/confirm`)
      const hidden = await api.postForm('/secure', { chargeTokenId: token })
      assert.equal(formOf(hidden, 'submit-card-details').action, '/demo/farthing/secure')

      for (const { text } of [page, confirm, hidden, await api.get('/secure/mistyped')])
        for (const [, address = ''] of text.matchAll(
          /<(?:link|script)[^>]*(?:href|src)="([^"]*)"/g,
        ))
          assert.match(address, /^\/demo\/farthing\/assets\//)
    })

    test('the header and the title of a page in English and in Welsh, and of an error page, have FARTHING_SERVICE_NAME, escaped', async () => {
      const api = await service().newAccount()
      const pages = [await api.get('/secure/none')]
      for (const language of ['en', 'cy'])
        pages.push(await api.get(`/secure/${tokenOf(await api.createPayment({ language }))}`))
      for (const { text } of pages) {
        const elements = elementsOf(text)
        const title = only(elements, tagged('title')).text
        assert.ok(title.endsWith(` - ${FARTHING_SERVICE_NAME}`), title)
        const header = only(elements, tagged('header')).text
        assert.ok(header.includes(FARTHING_SERVICE_NAME), header)
        assert.doesNotMatch(header, /Farthing/)
      }
    })
  },
)
