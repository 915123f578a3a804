/** Requests of which production makes something else, and next to them some that it takes too. */
import assert from 'node:assert/strict'
import { activeAgreement, cancelAgreement, createAgreement } from './agreements.ts'
import { type Client, webPayment } from './client.ts'
import { type Integration, integration } from './integration.ts'
import { authorise, card, paidPayment } from './journeys.ts'

const moto = (api: Client) => api.createPayment({ authorisation_mode: 'moto_api' })

type Fields = Record<string, unknown>

const creating = (what: string, expected: string[], ...all: Fields[]): Integration =>
  integration(what, expected, async ({ api }) => {
    for (const fields of all) await api.createPayment(fields)
  })

const returning = (what: string, expected: string[], ...urls: string[]): Integration =>
  creating(what, expected, ...urls.map(return_url => ({ return_url })))

const paying = (what: string, expected: string[], fields: Fields): Integration =>
  integration(what, expected, async ({ api }) => {
    assert.equal((await authorise(api, await moto(api), fields)).status, 204)
  })

const asking = (what: string, expected: string[], path: string, headers = {}): Integration =>
  integration(what, expected, ({ api }) => api.get(path, headers))

export const produced: Integration[] = [
  integration('a right payment', [], ({ api }) => paidPayment(api)),
  creating('an amount of 0', ['P1 warn'], { amount: 0 }),
  returning(
    'addresses that the validator of GOV.UK Pay takes',
    [],
    'https://localhost/back',
    'https://mytest/back',
    'https://app.local/back',
    'https://app.internal/back',
    'https://app.localhost/back',
    'https://app.home.arpa/back',
    'https://127.0.0.1/back',
    'https://shop.example.org/a/../b',
    'https://shop.example.org/back?q=café',
  ),
  returning(
    'addresses that the validator of GOV.UK Pay takes for none',
    Array(6).fill('P3 note'),
    'https://app.test/back',
    'https://app.home/back',
    'https://my_app.example.org/back',
    'https://shop.example.org/{id}',
    'https://shop.example.org/café',
    'https://shop.example.org/../b',
  ),
  returning('http to this machine', ['P2 note'], 'http://localhost:3000/back'),
  returning('http to another machine', ['P2 warn'], 'http://payments.example.org/back'),
  creating(
    'amounts at the limits of payment providers',
    ['P17 note', 'P17 note', 'P17 note'],
    ...[1, 29, 30, 500_000, 500_001].map(amount => ({ amount })),
  ),
  creating('a quotation mark in metadata', ['P5 note'], { metadata: { size: '3" pipe' } }),
  creating('an angle bracket in metadata', ['P5 warn'], { metadata: { size: '< 3' } }),
  integration(
    'a body without a Content-Type, and one of another type of JSON',
    ['P16 warn', 'P16 warn'],
    async ({ api }) => {
      const body = new TextEncoder().encode(JSON.stringify(webPayment))
      for (const headers of [{}, { 'Content-Type': 'application/vnd.api+json' }])
        assert.equal((await api.request('POST', '/v1/payments', { headers, body })).status, 201)
    },
  ),
  integration('a key that is used once, and once more', ['P4 fail'], async ({ api }) => {
    await api.createPayment({}, { 'Idempotency-Key': 'k-1' })
    await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
  }),
  integration(
    'a capture of a captured payment, and of one that cannot be captured',
    ['P7 note'],
    async ({ api }) => {
      const { payment_id } = await paidPayment(api, { delayed_capture: true })
      const created = await api.createPayment()
      const statuses: number[] = []
      for (const id of [payment_id, payment_id, created.payment_id])
        statuses.push((await api.post(`/v1/payments/${id}/capture`)).status)
      assert.deepEqual(statuses, [204, 409, 409])
    },
  ),
  integration(
    'a return_url with the scheme and host of the payment pages, at another port',
    ['P18 note', 'P2 note'],
    async ({ api }) => {
      const { _links } = await api.createPayment()
      const { protocol, hostname } = new URL(_links.next_url.href)
      await api.createPayment({ return_url: `${protocol}//${hostname}:3000/back` })
      if (protocol === 'https:') await api.createPayment({ return_url: 'http://localhost/back' })
    },
  ),
  asking('an Accept header for XML', ['P6 warn'], '/v1/payments', {
    Accept: 'text/xml, application/json;q=0',
  }),
  asking('an Accept header of a browser', [], '/v1/payments', { Accept: 'text/html, */*;q=0.8' }),
  asking('a search for what is capturable', ['P12 note'], '/v1/payments?state=capturable'),
  asking('a search by brand', ['P12 note'], '/v1/payments?card_brand=visa'),
  asking('webhooks that the application itself lists', ['P19 warn'], '/v1/webhooks'),
  paying('a wrong check digit', ['P9 fail'], { card_number: '4242424242424241' }),
  paying('an unknown brand', ['P9 fail'], { card_number: '9999999999999995' }),
  paying('a card that is declined there', ['P9 warn'], { card_number: '4000000000000069' }),
  paying('a card that succeeds there too', [], { card_number: '5105105105105100' }),
  paying('a right card', [], {}),
  paying('an expiry date that is over', ['P9 fail'], { expiry_date: '01/20' }),
  integration(
    'an expiry date that is over on the moved clock of the account only',
    [],
    async ({ api }) => {
      await api.advance(2 * 365 * 24 * 3_600_000)
      const year = String(new Date().getUTCFullYear() + 1).slice(-2)
      await authorise(api, await moto(api), { expiry_date: `12/${year}` })
    },
  ),
  integration('a card as a form', ['P10 warn'], async ({ api }) => {
    const { href, params } = (await moto(api))._links.auth_url_post
    assert.equal((await api.postForm(href, { ...params, ...card })).status, 204)
  }),
  integration(
    'a cancel of an agreement that is created, and of an active one',
    ['P8 warn'],
    async ({ api }) => {
      assert.equal((await cancelAgreement(api, await createAgreement(api))).status, 204)
      assert.equal((await cancelAgreement(api, await activeAgreement(api))).status, 204)
    },
  ),
  integration('a refund before the capture, and one after it', ['P20 note'], async ({ api }) => {
    const { payment_id } = await paidPayment(api)
    const refund = () => api.post(`/v1/payments/${payment_id}/refunds`, { amount: 100 })
    assert.equal((await refund()).status, 202)
    await api.advance(5_000)
    assert.equal((await refund()).status, 202)
  }),
]
