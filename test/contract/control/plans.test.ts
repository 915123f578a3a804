import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLAN_BYTES, PLANS } from '../../../src/core/budgets.ts'
import { type Body, sendUnchecked, webPayment } from '../../support/client.ts'
import { assertRefused } from '../../support/control.ts'
import { authorise, read } from '../../support/journeys.ts'
import { planning } from '../../support/plans.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { mockQueries, mockWrites } from '../../support/watched.ts'

/** Fields of a payment, each of an allowed length, with this number of bytes as JSON. */
function givenOf(bytes: number): object {
  const text = 'x'.repeat(100)
  const metadata = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`key-${i}`, text]))
  const given = {
    metadata,
    description: 'd'.repeat(255),
    return_url: `https://a.org/${'x'.repeat(1_900)}`,
  }
  const missing = bytes - Buffer.byteLength(JSON.stringify(given))
  return { ...given, reference: 'r'.repeat(missing - ',"reference":""'.length) }
}

onEveryDatabase('Plans', { control: true }, service => {
  const { control, plan, listed, counts, send, create } = planning(service)

  test('plans are listed with their defaults, in the order of creation, and can be deleted', async () => {
    const api = await service().newAccount()
    const first = await plan(api, { given: { reference: 'R-7' }, scenario: 'declined' })
    assert.match(first.plan_id, /^[0-9a-v]{26}$/)
    const { plan_id, ...shown } = first
    assert.deepEqual(shown, {
      on: 'createPayment',
      given: { reference: 'R-7' },
      skip: 0,
      times: 1,
      scenario: 'declined',
      seen: 0,
      acted: 0,
    })
    const second = await plan(api, { delay: [1, 2], times: 'always', answer: { status: 503 } })
    assert.deepEqual(await listed(api), [first, second])
    const remove = (path: string) => control(api, path, undefined, 'DELETE')
    assert.equal((await remove(`plans/${plan_id}`)).status, 204)
    assert.equal((await remove(`plans/${plan_id}`)).body.code, 'C0200')
    assert.deepEqual(await listed(api), [second])
    assert.equal((await remove('plans')).status, 204)
    assert.deepEqual(await listed(api), [])
  })

  test('plans are read again only when another is the last', async t => {
    const api = await service().newAccount()
    let reads = 0
    mockQueries(t, service().database, async query => {
      const rows = (await query()) as object[]
      if (rows.some(row => 'acted' in row && 'body' in row)) reads += 1
      return rows
    })
    for (const reference of ['R-1', 'R-2']) {
      await plan(api, { given: { reference }, scenario: 'declined' })
      for (let i = 0; i < 4; i++) await api.createPayment()
    }
    assert.equal(reads, 2)
  })

  test('a plan that is not valid, or could never match, is refused, and so is the 101st', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    const agreed = { authorisation_mode: 'agreement' }
    const moto = { authorisation_mode: 'moto_api' }
    await assertRefused(service(), api, 'plans', [
      [{}, 'scenario', 'C0101'],
      [{ scenaro: 'success' }, 'scenaro', 'C0103'],
      [{ scenario: 'paid' }, 'scenario'],
      [{ scenario: 'success', on: 'readPayment' }, 'on'],
      [{ scenario: 'success', delay: 1 }, 'delay'],
      [{ scenario: 'success', payment_id }, 'payment_id'],
      [{ scenario: 'expired' }, 'scenario'],
      [{ scenario: 'cancel', given: { agreement_id: payment_id } }, 'scenario'],
      [{ scenario: 'cancel', given: agreed }, 'scenario'],
      [{ scenario: 'cancel', given: moto }, 'scenario'],
      [{ refund: 'held', scenario: 'error' }, 'refund'],
      [{ on: 'createPayment', refund: 'held' }, 'refund'],
      [{ on: 'capturePayment', scenario: 'error' }, 'scenario'],
      [{ scenario: 'declined', can_retry: false, given: moto }, 'can_retry'],
      [{ scenario: 'declined', can_retry: 'no' }, 'can_retry'],
      [{ scenario: 'success', can_retry: true }, 'can_retry'],
      [{ can_retry: true }, 'can_retry'],
      [{ scenario: 'cancel', hold: true }, 'hold'],
      [{ hold: false }, 'hold'],
      [{ hold: true, delay: 1 }, 'delay'],
      [{ on: 'refundPayment', scenario: 'declined' }, 'scenario'],
      [{ on: 'refundPayment', hold: true }, 'hold'],
      [{ on: 'cancelPayment', hold: true }, 'on'],
      [{ on: 'readControl', reset: true }, 'on'],
      [{ on: 'message', reset: true }, 'reset'],
      [{ on: 'message', delay: 1, when: 'after' }, 'when'],
      [{ on: 'message', given: { amount: 1 } }, 'delay', 'C0101'],
      [{ on: 'message', scenario: 'success' }, 'on'],
      [{ on: 'searchRefunds', reset: true, payment_id }, 'payment_id'],
      [{ on: 'createAgreement', reset: true, given: { amount: 1 } }, 'given'],
      [{ reset: true, given: { amout: 1 } }, 'given.amout', 'C0103'],
      [{ reset: true, given: { amount: '1' } }, 'given.amount'],
      [{ reset: true, given: { email: null } }, 'given.email'],
      [{ reset: true, given: 'R-7' }, 'given'],
      [{ reset: true, given: givenOf(PLAN_BYTES + 1) }, 'given'],
      [{ reset: true, payment_id: 'x' }, 'payment_id'],
      [{ reset: true, skip: -1 }, 'skip'],
      [{ reset: true, times: 0 }, 'times'],
      [{ reset: true, when: 'during' }, 'when'],
      [{ reset: true, answer: { status: 503 } }, 'answer'],
      [{ reset: false }, 'reset'],
      [{ delay: 60_001 }, 'delay'],
      [{ delay: [2, 1] }, 'delay'],
      [{ answer: { status: 200 } }, 'answer.status'],
      [{ answer: { status: 503, code: 'P0900' } }, 'answer.code'],
      [{ answer: { status: 418 } }, 'answer.code', 'C0101'],
      [{ answer: { status: 418, code: 'P0000' } }, 'answer.code'],
      [{ answer: { status: 400, code: 'P0198' } }, 'answer.status'],
      [{ answer: { code: 'P0102' } }, 'answer.status'],
      [{ answer: {} }, 'answer.status'],
      [{ answer: { status: 503, text: '' } }, 'answer.text', 'C0103'],
    ])
    const longest = { reset: true, given: givenOf(PLAN_BYTES) }
    assert.equal((await plan(await service().newAccount(), longest)).skip, 0)
    const unknown = { reset: true, payment_id: '0'.repeat(26) }
    assert.equal((await control(api, 'plans', unknown)).body.code, 'C0200')
    assert.deepEqual(await listed(api), [])
    const many = Array.from({ length: PLANS + 1 }, () => control(api, 'plans', { delay: 0 }))
    const statuses = (await Promise.all(many)).map(({ status, body }) => body.code ?? status)
    assert.deepEqual(statuses.sort(), [...Array(100).fill(201), 'C0429'])
  })

  // test/testing/seed.test.ts compares what each scenario leaves with what the picker leaves.
  test('a scenario is carried out when the first page is opened by a link or a form, and not when it is only looked for', async () => {
    const api = await service().newAccount()
    for (const [scenario, way, page] of [
      ['success', 'link', undefined],
      ['cancel', 'link', /cancelled/],
      ['declined', 'form', /declined/],
    ] as const) {
      await plan(api, { scenario, given: { reference: 'Planned' } })
      const { payment_id, _links } = await api.createPayment({ reference: 'Planned' })
      const { href } = _links.next_url
      assert.equal((await api.request('HEAD', href)).status, 200)
      assert.equal((await read(api, { payment_id })).state.status, 'created')
      const answer =
        way === 'link'
          ? await api.get(href)
          : await api.postForm('/secure', _links.next_url_post.params)
      assert.equal(answer.status, page ? 200 : 303)
      if (page) assert.match(answer.text, page)
      else assert.equal(answer.headers.get('location'), webPayment.return_url)
      assert.equal((await api.get(href)).status, 303)
    }
    for (const [, acted] of await counts(api)) assert.equal(acted, 1)
  })

  test('a scenario overrides the card of a moto_api payment, and complete overrides the scenario', async () => {
    const api = await service().newAccount()
    const moto = { authorisation_mode: 'moto_api' }
    for (const [scenario, card, status] of [
      ['success', '4000000000000002', 204],
      ['declined', '4242424242424242', 402],
      ['cancel', '4242424242424242', 204],
    ] as const) {
      await plan(api, { scenario })
      const payment = await api.createPayment(moto)
      assert.equal((await authorise(api, payment, { card_number: card })).status, status)
    }
    await plan(api, { scenario: 'declined', times: 2 })
    for (const fields of [moto, {}]) {
      const { payment_id } = await api.createPayment(fields)
      const { body } = await control(api, `payments/${payment_id}/complete`, {})
      assert.equal(body.state.status, 'success')
    }
  })

  test('a failed creation and a payment that control creates consume no scenario', async () => {
    const api = await service().newAccount()
    await plan(api, { scenario: 'declined' })
    assert.equal((await create(api, { amount: 'much' })).status, 400)
    assert.equal((await control(api, 'payments', {})).status, 201)
    const key = { 'Idempotency-Key': 'k-1' }
    const made = await create(api, {}, key)
    assert.equal(made.status, 201)
    await plan(api, { scenario: 'error' })
    assert.equal((await create(api, {}, key)).body.code, 'P0191')
    assert.deepEqual(await counts(api), [
      [1, 1],
      [0, 0],
    ])
    const [, created, refused] = (await control(api, 'requests')).body.results
    assert.deepEqual([created.plan, refused.plan], [(await listed(api))[0]?.plan_id, null])
  })

  test('a request that is refused before the handler consumes no plan, and one that the handler refuses does', async () => {
    const api = await service().newAccount()
    await plan(api, { answer: { status: 500 }, times: 'always' })
    assert.equal((await send({ ...api, key: 'none' }, '/v1/payments')).status, 401)
    assert.equal((await send(api, '/v1/nothing')).status, 404)
    assert.equal((await send(api, '/v1/payments', { method: 'PUT' })).status, 405)
    const typed = { method: 'POST', json: {}, headers: { 'Content-Type': 'text/csv' } }
    assert.equal((await send(api, '/v1/payments', typed)).status, 400)
    const large = { method: 'POST', json: 'x'.repeat(65_536) }
    assert.equal((await send(api, '/v1/payments', large)).status, 413)
    for (const path of ['/healthz', '/openapi.json', '/']) await send(api, path)
    assert.deepEqual(await counts(api), [[0, 0]])
    assert.equal((await send(api, '/v1/payments/none')).status, 500)
    assert.deepEqual(await counts(api), [[1, 1]])
  })

  test('a plan matches the fields of a payment, with defaults, and a payment by its identifier', async () => {
    const api = await service().newAccount()
    const answer = { answer: { status: 503 }, times: 'always' }
    const { payment_id } = await api.createPayment({ reference: 'A', metadata: { a: 1, b: 'x' } })
    const other = await api.createPayment({ reference: 'B', language: 'cy', metadata: { a: 2 } })
    const hits = async (fields: object) => {
      await plan(api, { ...answer, ...fields })
      const statuses: number[] = []
      for (const id of [payment_id, other.payment_id])
        statuses.push((await send(api, `/v1/payments/${id}`)).status)
      await control(api, 'plans', undefined, 'DELETE')
      return statuses
    }
    assert.deepEqual(await hits({ given: { language: 'en' } }), [503, 200])
    assert.deepEqual(await hits({ given: { metadata: { a: 1 } } }), [503, 200])
    assert.deepEqual(await hits({ given: { metadata: {} } }), [503, 503])
    assert.deepEqual(await hits({ given: { reference: 'B', amount: 4650 } }), [200, 503])
    assert.deepEqual(await hits({ given: { reference: 'B', amount: 1 } }), [200, 200])
    assert.deepEqual(await hits({ payment_id }), [503, 200])
    assert.deepEqual(await hits({ on: 'cancelPayment' }), [200, 200])
    await plan(api, { ...answer, given: { delayed_capture: false, moto: false } })
    assert.equal((await create(api)).status, 503)
    assert.equal((await create(api, { delayed_capture: true })).status, 201)
    assert.equal((await api.get('/v1/payments')).status, 200)
  })

  test('simultaneous requests that match many plans are counted together, and none is missed', async t => {
    const { database, baseUrl } = service()
    const api = await service().newAccount()
    const [kinds, requests] = [[{ scenario: 'declined' }, { answer: { status: 500 } }], 40]
    for (const kind of kinds)
      for (let i = 0; i < 10; i++)
        await plan(api, { on: 'createPayment', skip: requests - 1, ...kind })
    const ids = (await listed(api)).map(({ plan_id }) => plan_id)
    let [reads, writes] = [0, 0]
    mockQueries(t, database, async query => {
      const rows = (await query()) as { plan_id?: string; body?: string }[] // each of its own query
      reads += Number(rows.some(({ plan_id, body }) => plan_id && body))
      return rows
    })
    mockWrites(t, database, (write, statements) => {
      if (statements.some(({ values }) => ids.some(id => values.includes(id)))) writes += 1
      return write()
    })
    const init = { key: api.key, method: 'POST', json: webPayment }
    const all = Array.from({ length: requests }, () =>
      sendUnchecked(`${baseUrl}/v1/payments`, init),
    )
    const created = (await Promise.all(all)).filter(({ status }) => status === 201)
    assert.equal(created.length, requests - 1)
    assert.ok(writes < requests, `${writes} writes`)
    assert.ok(reads <= 2, `the plans were read ${reads} times`)
    const others = Array(9).fill([requests - 1, 0])
    assert.deepEqual((await counts(api)).slice(10), [[requests, 1], ...others])
  })

  test('a plan that was created or removed since the last request affects the next, on every instance', async () => {
    const api = await service().newAccount()
    const remove = ({ plan_id }: Body) => control(api, `plans/${plan_id}`, undefined, 'DELETE')
    const search = (what: string, status: number) =>
      plan(api, { on: `search${what}`, answer: { status }, times: 'always' })
    const statuses = async () => {
      const seen = { payments: [] as number[], refunds: [] as number[] }
      for (const what of ['payments', 'refunds'] as const)
        for (const _ of service().baseUrls) seen[what].push((await send(api, `/v1/${what}`)).status)
      for (const each of Object.values(seen)) assert.equal(new Set(each).size, 1)
      return [seen.payments[0], seen.refunds[0]]
    }
    const first = await search('Payments', 503)
    assert.deepEqual(await statuses(), [503, 200])
    const second = await search('Refunds', 500)
    assert.deepEqual(await statuses(), [503, 500])
    await remove(first)
    assert.deepEqual(await statuses(), [200, 500])
    await remove(second)
    const third = await search('Payments', 429) // in the place of the second
    assert.deepEqual(await statuses(), [429, 200])
    await remove(third)
    assert.deepEqual(await statuses(), [200, 200])
  })
})
