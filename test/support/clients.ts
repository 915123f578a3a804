/** Clients that would fail in production by the rules that they break, and next to them some that would not. */
import assert from 'node:assert/strict'
import { DAY, MINUTE, SECOND } from '../../src/core/time.ts'
import { activeAgreement, cancelAgreement, createAgreement } from './agreements.ts'
import { type Fields, webPayment } from './client.ts'
import { learning } from './clients-learning.ts'
import { client, type Integration, type Keeper, times } from './integration.ts'
import { authorise, card, paidPayment } from './journeys.ts'

const creating = (what: string, expected: string, ...all: Fields[]): [string, Integration] =>
  client(what, expected, async ({ create }) => {
    for (const fields of all) await create(fields)
  })

const returning = (what: string, expected: string, ...urls: string[]) =>
  creating(what, expected, ...urls.map(return_url => ({ return_url })))

const moto = ({ create }: Keeper) => create({ authorisation_mode: 'moto_api' })

const paying = (what: string, expected: string, fields: Fields) =>
  client(what, expected, async keeper => {
    assert.equal((await authorise(keeper.api, await moto(keeper), fields)).status, 204)
  })

/** Rows of `count` requests that took `ms` milliseconds, of which one begins every 60 milliseconds. */
const posts = (count: number, ms: number, operation = 'createPayment') =>
  Array.from({ length: count }, () => ({ operation, ms }))

const LOST = { on: 'createPayment', reset: true, when: 'after' }
const LOST_REFUND = { ...LOST, on: 'refundPayment' }
const LIMITED = { on: 'createPayment', answer: { status: 429 } }
export const clients: Record<string, Integration> = Object.fromEntries([
  ...learning,
  client('a right payment, and an Accept header of a browser', '', async ({ api }) => {
    await paidPayment(api)
    await api.get('/v1/payments', { Accept: 'text/html, */*;q=0.8' })
  }),
  creating('an amount of 0', 'P1 warn', { amount: 0 }),
  returning(
    'addresses that the validator of GOV.UK Pay takes',
    '',
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
    'P3 note x6',
    'https://app.test/back',
    'https://app.home/back',
    'https://my_app.example.org/back',
    'https://shop.example.org/{id}',
    'https://shop.example.org/café',
    'https://shop.example.org/../b',
  ),
  returning('http to this machine', 'P2 note', 'http://localhost:3000/back'),
  returning('http to another machine', 'P2 warn', 'http://payments.example.org/back'),
  creating(
    'amounts at the limits of payment providers',
    'P17 note x2, P17 note',
    ...[1, 29, 30, 500_000, 500_001].map(amount => ({ amount })),
  ),
  creating('a quotation mark in metadata', 'P5 note', { metadata: { size: '3" pipe' } }),
  creating('an angle bracket in metadata', 'P5 warn', { metadata: { size: '< 3' } }),
  client('no Content-Type, and another type of JSON', 'P16 warn x2', async ({ api }) => {
    const body = new TextEncoder().encode(JSON.stringify(webPayment))
    for (const headers of [{}, { 'Content-Type': 'application/vnd.api+json' }])
      assert.equal((await api.request('POST', '/v1/payments', { headers, body })).status, 201)
  }),
  client('a key that is used once, and once more', 'P4 fail', async ({ api, create }) => {
    await create({}, { 'Idempotency-Key': 'k-1' })
    await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
  }),
  client('captures of a captured payment and of an open one', 'P7 note', async ({ api }) => {
    const { payment_id } = await paidPayment(api, { delayed_capture: true })
    const created = await api.createPayment()
    const statuses: number[] = []
    for (const id of [payment_id, payment_id, created.payment_id])
      statuses.push((await api.post(`/v1/payments/${id}/capture`)).status)
    assert.deepEqual(statuses, [204, 409, 409])
  }),
  client('a used key, as only a plan says', '', async ({ api, plan }) => {
    await plan({ on: 'createPayment', answer: { status: 409, code: 'P0191' } })
    const { status } = await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
    assert.equal(status, 409)
  }),
  client(
    'a return_url at the host of the payment pages',
    'P2 note, P18 note',
    async ({ create }) => {
      const { protocol, hostname } = new URL((await create())._links.next_url.href)
      await create({ return_url: `${protocol}//${hostname}:3000/back` })
      if (protocol === 'https:') await create({ return_url: 'http://localhost/back' })
    },
  ),
  client('an Accept header for XML', 'P6 warn', ({ api }) =>
    api.get('/v1/payments', { Accept: 'text/xml, application/json;q=0' }),
  ),
  client('searches for what is capturable, and by brand', 'P12 note, P12 note', async ({ api }) => {
    await api.get('/v1/payments?state=capturable')
    await api.get('/v1/payments?card_brand=visa')
  }),
  client('webhooks that the application itself lists', 'P19 warn', ({ api }) =>
    api.get('/v1/webhooks'),
  ),
  paying('a wrong check digit', 'P9 fail, P14 note', { card_number: '4242424242424241' }),
  paying('an unknown brand', 'P9 fail, P14 note', { card_number: '9999999999999995' }),
  paying('a card that is declined there', 'P9 warn, P14 note', { card_number: '4000000000000069' }),
  paying('a card that succeeds there too', 'P14 note', { card_number: '5105105105105100' }),
  paying('an expiry date that is over', 'P9 fail, P14 note', { expiry_date: '01/20' }),
  client('an expiry date that is over on the moved clock only', 'P14 note', async keeper => {
    await keeper.wait(2 * 365 * DAY)
    await authorise(keeper.api, await moto(keeper), { expiry_date: '12/27' })
  }),
  client('a card as a form', 'P10 warn, P14 note', async keeper => {
    const { href, params } = (await moto(keeper))._links.auth_url_post
    assert.equal((await keeper.api.postForm(href, { ...params, ...card })).status, 204)
  }),
  client(
    'cancels of a created and an active agreement',
    'P8 warn, P14 note x3',
    async ({ api }) => {
      assert.equal((await cancelAgreement(api, await createAgreement(api))).status, 204)
      assert.equal((await cancelAgreement(api, await activeAgreement(api))).status, 204)
    },
  ),
  client('refunds before the capture, and after it', 'C11 note x2, P20 note', async keeper => {
    const payment = await keeper.payAndRead()
    await keeper.tryToRefund(payment)
    await keeper.wait(5 * SECOND)
    await keeper.tryToRefund(payment)
  }),

  client('sixteen creates in a second', 'P13 note', ({ record }) => record(60, posts(16, 150))),
  client('fifteen creates and fifteen captures in two seconds', '', async ({ record }) => {
    await record(60, posts(15, 150, 'capturePayment'))
    await record(60, posts(15, 150))
  }),
  client('sixteen creates in a second one after the other, and in two', '', async keeper => {
    await keeper.record(60, posts(16, 50))
    keeper.service.clock.advance(SECOND)
    await keeper.record(60, posts(8, 150))
    keeper.service.clock.advance(SECOND)
    await keeper.record(60, posts(8, 150))
  }),
  client('moto, and an agreement', 'P14 note, P14 note', async ({ api, create }) => {
    await create({ moto: true })
    await createAgreement(api)
  }),
  client('a create that is repeated after a reset', 'C5 fail', async ({ plan, tryToCreate }) => {
    await plan(LOST)
    await times(2, tryToCreate)
  }),
  client('a create after one whose answer a plan replaced', 'C5 fail', async keeper => {
    await keeper.plan({ on: 'createPayment', answer: { status: 503 }, when: 'after' })
    await times(2, keeper.tryToCreate)
  }),
  client('a create that is refused after a reset, and then repeated', 'C5 fail', async keeper => {
    await keeper.plan(LOST)
    await keeper.tryToCreate()
    await keeper.plan({ on: 'createPayment', answer: { status: 503 } })
    await times(2, keeper.tryToCreate)
  }),
  client('creates after one that made none, and 30 seconds after a lost one', '', async keeper => {
    const { plan, tryToCreate, wait } = keeper
    await plan({ on: 'createPayment', reset: true })
    await times(2, tryToCreate)
    await wait(30 * SECOND)
    await plan(LOST)
    await tryToCreate()
    await wait(30 * SECOND)
    await times(2, tryToCreate)
  }),
  returning(
    'a reference, an encoded one, and a known example of the documentation in return_url',
    'C6 warn x2',
    'https://shop.example.org/back?ref=PITCH%2D2207',
    'https://shop.example.org/payment_PITCH-2207',
  ),
  creating('digits in return_url that the record masks', 'C6 warn', {
    reference: 'ORDER-1795666324143',
    return_url: 'https://shop.example.org/ORDER-1795666324143',
  }),
  creating('an email in return_url', 'C6 warn', {
    email: 'a@example.org',
    return_url: 'https://shop.example.org/back?who=a%40example.org',
  }),
  creating(
    'metadata in return_url that differs between payments',
    'C6 warn x2',
    ...['member 0', 'member 1'].map(member => ({
      metadata: { member },
      return_url: `https://shop.example.org/back?who=${member.replace(' ', '+')}`,
    })),
  ),
  creating(
    'metadata in return_url that names a form, is random, or the same in all payments',
    '',
    ...['dog-licence', 'dog-licence', 'cat-licence'].map((form, i) => ({
      reference: 'line',
      metadata: { form, channel: 'online', id: `3b241101-e2bb-4255-8caf-4136c566a96${i}` },
      return_url: `https://shop.example.org/${form}/online/3b241101-e2bb-4255-8caf-4136c566a96${i}`,
    })),
  ),
  client('a refund that is repeated after a reset', 'C11 fail', async keeper => {
    const payment = await keeper.captured()
    await keeper.plan(LOST_REFUND)
    await times(2, () => keeper.tryToRefund(payment))
  }),
  client('a refund with refund_amount_available, repeated after a reset', '', async keeper => {
    const payment = await keeper.captured()
    await keeper.plan(LOST_REFUND)
    await times(2, () => keeper.tryToRefund(payment, { refund_amount_available: payment.amount }))
  }),
  client('a payment that waits a day for its capture', 'C7 warn', async ({ payAndRead, wait }) => {
    await payAndRead({ delayed_capture: true })
    await wait(DAY)
    await payAndRead()
  }),
  client('one that a test made, and others that wait a little less', '', async keeper => {
    const { control, payAndRead, wait } = keeper
    await control('payments', { delayed_capture: true, scenario: 'success' })
    await wait(SECOND)
    await payAndRead({ delayed_capture: true })
    await wait(DAY - SECOND)
    await payAndRead()
    await wait(2 * DAY)
  }),
  client('five equal refusals within ten seconds', 'C8 warn x5', ({ api }) =>
    times(5, () => api.post('/v1/payments', { ...webPayment, amount: -1 })),
  ),
  client('four refusals, five slow ones, five unlike ones and five of reads', '', async keeper => {
    const { api, wait } = keeper
    const refused = (amount = -1) => api.post('/v1/payments', { ...webPayment, amount })
    await times(4, () => refused())
    await wait(MINUTE)
    await times(5, async () => {
      await refused()
      await wait(2.5 * SECOND)
    })
    await times(5, i => refused(-1 - i))
    await times(5, () => api.get(`/v1/payments/${'0'.repeat(26)}`))
  }),
  client('a 429 that is repeated at once', 'C8 warn', async ({ plan, tryToCreate }) => {
    await plan(LIMITED)
    await times(2, tryToCreate)
  }),
  client('a 429 that is repeated after two seconds', '', async keeper => {
    await keeper.plan(LIMITED)
    await keeper.tryToCreate()
    keeper.service.clock.advance(2 * SECOND)
    await keeper.tryToCreate()
  }),
  client('POST /v1/auth that is left before 15 seconds, and after', 'C17 warn', ({ record }) =>
    record(
      SECOND,
      [15 * SECOND - 1, 15 * SECOND].map(ms => ({
        operation: 'authorisePayment',
        ms,
        ended: 'gone' as const,
      })),
    ),
  ),
  client('the first of two pages', 'C18 note', async ({ api, create }) => {
    await times(3, () => create())
    await api.get('/v1/payments?display_size=2')
  }),
  client('a search for the newest payment', '', async ({ api, create }) => {
    await times(2, () => create())
    await api.get('/v1/payments?display_size=1')
  }),
  client('both pages', '', async ({ api, create }) => {
    await times(3, () => create())
    for (const page of [1, 2]) await api.get(`/v1/payments?display_size=2&page=${page}`)
  }),
])
