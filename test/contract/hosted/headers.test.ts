import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, only, withId } from '../../hosted/document.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { confirmOf, met, pageOf } from '../../support/hosted-page.ts'
import { choose, newPayment, read } from '../../support/journeys.ts'
import { onOneDatabase, startService } from '../../support/service.ts'

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cache-control': 'no-store',
  'referrer-policy': 'strict-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
}

/** `page` is the address of the hosted pages. Only https pages have Strict-Transport-Security. */
function assertPageHeaders(answer: Answer, page: string): void {
  for (const [name, value] of Object.entries(headers))
    assert.equal(answer.headers.get(name), value, name)
  assert.equal(answer.headers.get('cross-origin-opener-policy'), null)
  assert.equal(answer.headers.get('set-cookie'), null)
  const strict = page.startsWith('https:') ? 'max-age=31536000' : null
  assert.equal(answer.headers.get('strict-transport-security'), strict)
  assert.equal(answer.headers.get('access-control-allow-origin'), null)
}

const otherSite = { 'Sec-Fetch-Site': 'cross-site' }
const tooLarge = `scenario=success&x=${'x'.repeat(16_384)}`

const FORM = 'application/x-www-form-urlencoded'
const form = (api: Client, path: string, headers: Record<string, string>, body = '') =>
  api.request('POST', path, { headers: { 'Content-Type': FORM, ...headers }, body })

onOneDatabase('Hosted pages: requests and headers', { control: true }, service => {
  test('every page and every redirect under /secure has the headers of the pages', async () => {
    const { api, payment } = await newPayment(service())
    const token = payment._links.next_url_post.params
    const answers: [name: string, answer: Answer, status: number][] = [
      ['HEAD', await api.request('HEAD', pageOf(payment)), 200],
      ['details', await api.get(pageOf(payment)), 200],
      ['nothing chosen', await api.postForm(pageOf(payment), {}), 400],
      ['not chosen, confirm', await api.get(confirmOf(payment)), 303],
      ['success', await choose(api, payment, 'success'), 303],
      ['confirm', await api.get(confirmOf(payment)), 200],
      ['details by POST', await api.postForm('/secure', token), 200],
      ['confirmed', await api.postForm(confirmOf(payment), {}), 303],
      ['over', await api.get(pageOf(payment)), 303],
    ]
    for (const scenario of ['declined', 'error', 'cancel'])
      answers.push([scenario, await choose(api, await api.createPayment(), scenario), 200])
    for (const [name, answer, status] of answers) {
      assert.equal(answer.status, status, name)
      assertPageHeaders(answer, pageOf(payment))
    }
  })

  test('every error page under /secure has the headers of the pages', async () => {
    const { api, payment } = await newPayment(service())
    const page = pageOf(payment)
    const answers: [answer: Answer, status: number, heading: string][] = [
      [await api.get('/secure/mistyped'), 404, 'Page not found'],
      [await api.get('/secure'), 404, 'Page not found'],
      [await api.get('/secure/a/b/c'), 404, 'Page not found'],
      [await api.get('/secure/%E0%A4%A'), 404, 'Page not found'],
      [await api.request('PUT', '/secure'), 405, 'Sorry, you cannot do that on this page'],
      [await api.request('DELETE', page), 405, 'Sorry, you cannot do that on this page'],
      [await form(api, page, otherSite), 403, 'Sorry, we cannot accept this request'],
      [await form(api, page, {}, tooLarge), 413, 'The form is too large'],
      [await api.post(page, {}), 415, 'We do not recognise this form'],
    ]
    for (const [answer, status, heading] of answers) {
      assert.deepEqual(met(answer), [status, heading])
      assertPageHeaders(answer, pageOf(payment))
    }
    assert.deepEqual(await read(api, payment), payment)
  })

  const labels = { en: 'Continue', cy: 'Parhau' }

  for (const language of Object.keys(labels))
    test(`a refusal at the address of a payment is in its language and has a button that leads to return_url: ${language}`, async () => {
      const { api, payment } = await newPayment(service(), { language })
      for (const path of [pageOf(payment), confirmOf(payment)])
        await assertRefusals(path, await read(api, payment))
      await api.postForm(pageOf(payment), { scenario: 'cancel' })
      await assertRefusals(pageOf(payment), await read(api, payment))
      const byForm = await form(api, '/secure', otherSite, hiddenStep(payment))
      assertLeadsBack(byForm, 403, payment)

      async function assertRefusals(path: string, before: Body): Promise<void> {
        assertLeadsBack(await form(api, path, otherSite, 'scenario=success'), 403, payment)
        assertLeadsBack(await api.request('DELETE', path), 405, payment)
        assertLeadsBack(await form(api, path, {}, tooLarge), 413, payment)
        assertLeadsBack(await api.post(path, {}), 415, payment)
        assert.deepEqual(await read(api, payment), before)
      }
    })

  /** Beside the skip link the page has one link, the button. The page is in one language. */
  function assertLeadsBack(answer: Answer, status: number, { language, return_url }: Body): void {
    assert.equal(answer.status, status)
    const elements = elementsOf(answer.text)
    const declared = elements.flatMap(({ attributes }) => attributes.lang ?? [])
    assert.deepEqual(declared, [language])
    const { tag, text, attributes } = only(elements, withId('return-url'))
    const label = labels[language as keyof typeof labels]
    assert.deepEqual([tag, text, attributes.href], ['a', label, return_url])
  }

  test('a refusal where there is no payment has no button and is in both languages', async () => {
    const api = await service().newAccount()
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    const { one_time_token } = moto._links.auth_url_post.params
    const paths = ['/secure', '/secure/mistyped', `/secure/${one_time_token}`]
    const gone = await api.createPayment()
    await api.advance(7 * 86_400_000)
    for (const path of [...paths, pageOf(gone)]) {
      const answer = await api.request('DELETE', path)
      assert.equal(answer.status, 405)
      const elements = elementsOf(answer.text)
      assert.ok(!elements.some(withId('return-url')), path)
      only(elements, ({ tag, attributes }) => tag === 'div' && attributes.lang === 'cy')
    }
  })

  const OWN = 'https://own.example:8443'
  const origins = ['https://evil.example', 'https://own.example', 'null', '']
  const refused: Record<string, string>[] = [
    ...['cross-site', 'same-site', 'anything', ''].map(site => ({ 'Sec-Fetch-Site': site })),
    ...origins.map(Origin => ({ Origin })),
    { 'Sec-Fetch-Site': 'cross-site', Origin: OWN },
    { 'Sec-Fetch-Site': 'none', Origin: 'https://evil.example' },
  ]
  const accepted: Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: OWN },
    { 'Content-Type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' },
    // A proxy has changed the Host.
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://localhost:5173' },
  ]
  type Part = (payment: Body) => string
  const steps: Record<string, [path: Part, body: Part]> = {
    'the first page': [pageOf, () => 'scenario=success'],
    'the confirm page': [confirmOf, () => 'scenario=cancel'],
    'POST /secure with step': [() => '/secure', hiddenStep],
  }
  for (const [name, [path, body]] of Object.entries(steps))
    test(`a form from another site returns 403 and has no effect, and one from the same origin or without an origin is accepted: ${name}`, async () => {
      const { api, payment } = await newPayment(service())
      const send = (payment: Body, headers: Record<string, string>) =>
        form(api, path(payment), { Host: new URL(OWN).host, ...headers }, body(payment))
      for (const headers of refused) {
        const answer = met(await send(payment, headers))
        const shown = [403, 'Sorry, we cannot accept this request']
        assert.deepEqual(answer, shown, JSON.stringify(headers))
      }
      assert.deepEqual(await read(api, payment), payment)
      for (const headers of accepted) {
        const own = await api.createPayment()
        const { status } = await send(own, headers)
        assert.ok([200, 303].includes(status), `${JSON.stringify(headers)}: ${status}`)
        assert.notDeepEqual(await read(api, own), own)
      }
    })

  test('another site may start the journey with POST /secure or a link', async () => {
    const { api, payment } = await newPayment(service())
    const body = new URLSearchParams(payment._links.next_url_post.params).toString()
    for (const from of [otherSite, { Origin: 'https://shop.example' }])
      assert.equal((await form(api, '/secure', from, body)).status, 200)
    assert.equal((await api.get(pageOf(payment), otherSite)).status, 200)
  })

  test('a form of another type or a compressed one returns 415 and has no effect', async () => {
    const { api, payment } = await newPayment(service())
    const others: Record<string, string>[] = [
      { 'Content-Type': 'application/json' },
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': `${FORM}x` },
      { 'Content-Encoding': 'gzip' },
    ]
    for (const path of [pageOf(payment), confirmOf(payment), '/secure'])
      for (const headers of others) {
        const answer = await form(api, path, headers, 'scenario=success')
        assert.deepEqual(met(answer), [415, 'We do not recognise this form'], path)
      }
    assert.deepEqual(await read(api, payment), payment)
  })
})

function hiddenStep(payment: Body): string {
  const fields = { ...payment._links.next_url_post.params, step: 'details', scenario: 'declined' }
  return new URLSearchParams(fields).toString()
}

const env = { FARTHING_PAGES_URL: 'https://pay.example.org' }

onOneDatabase('Hosted pages: https', { env }, service => {
  test('pages, redirects and errors have Strict-Transport-Security when the pages are on https', async () => {
    const { api, payment } = await newPayment(service())
    assert.match(pageOf(payment), /^https:/)
    for (const path of [pageOf(payment), confirmOf(payment), '/secure/mistyped'])
      assertPageHeaders(await api.get(path), pageOf(payment))
  })

  test('a form from the configured address of the pages is accepted, whatever Host the proxy sends', async () => {
    const { api, payment } = await newPayment(service())
    const sent = { Host: 'internal:3000', Origin: 'https://pay.example.org' }
    const answer = await form(api, pageOf(payment), sent, 'scenario=success')
    assert.equal(answer.status, 303)
  })
})

test('a page under /secure returns 500 with the headers and no internals when the database fails', async t => {
  const service = await startService('sqlite')
  t.after(() => service.stop())
  const api = await service.newAccount()
  const payment = await api.createPayment()
  await service.database.write([{ sql: 'alter table payments rename to gone', values: [] }])
  const answer = await api.get(pageOf(payment))
  assert.deepEqual(met(answer), [500, 'Sorry, there is a problem with the service'])
  assertPageHeaders(answer, pageOf(payment))
  assert.doesNotMatch(answer.text, /table/)
})
