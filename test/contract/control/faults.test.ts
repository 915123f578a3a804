import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REQUESTS_OF_ACCOUNT } from '../../../src/core/budgets.ts'
import { faultCodeOf, onlyByPlan } from '../../../src/core/codes.ts'
import { delayOf } from '../../../src/tools/plans/plan.ts'
import { type Answer, type Body, webPayment } from '../../support/client.ts'
import { endpoints } from '../../support/endpoints.ts'
import { card, read } from '../../support/journeys.ts'
import { planning } from '../../support/plans.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history, receiving, subscribe } from '../../support/subscriber.ts'

onEveryDatabase('Faults of plans, and their codes', { ...receiving, control: true }, service => {
  const { control, plan, listed, counts, send, create } = planning(service)

  test('a receiver may read a payment while it handles a message of a payment that a plan has ended', async t => {
    const api = await service().newAccount()
    const { payment_id } = (await control(api, 'payments', { scenario: 'success' })).body
    const url = `/v1/payments/${payment_id}`
    const onRequest: Behaviour['onRequest'] = async ({ response }) => {
      await api.get(url)
      response.end()
    }
    const { webhook } = await subscribe(t, api, { behaviour: { onRequest } })
    await plan(api, { on: 'refundPayment', scenario: 'success' })
    await plan(api, { on: 'readPayment', delay: 1, skip: 1_000 })
    await api.post(`${url}/refunds`, { amount: 1 })
    const [message] = await history(api, webhook)
    assert.equal(message.latest_attempt.result, '200 OK')
  })

  test('a fault before the handler leaves nothing, and one after it leaves everything', async t => {
    const api = await service().newAccount()
    const receiver = await subscribe(t, api)
    const cancel = ({ payment_id }: Body) =>
      send(api, `/v1/payments/${payment_id}/cancel`, { method: 'POST' })
    const operations: [string, (payment: Body) => Promise<Answer>][] = [
      ['createPayment', () => create(api)],
      ['readPayment', ({ payment_id }) => send(api, `/v1/payments/${payment_id}`)],
      ['cancelPayment', cancel],
      ['openPaymentPage', ({ _links }) => send(api, _links.next_url.href)],
    ]
    const total = async () => (await api.get('/v1/payments')).body.total
    // Each operation carries out a plan in the same way, so one is enough on a second database.
    for (const [on, perform] of service().kind === 'sqlite' ? operations : operations.slice(0, 1))
      for (const when of ['before', 'after'] as const)
        for (const [fault, answered] of [
          [{ answer: { status: 503 } }, 'replaced'],
          [{ reset: true }, 'reset'],
          [{ delay: 20 }, 'sent'],
        ] as const) {
          const payment = await api.createPayment()
          const [before, sent] = [await total(), receiver.requests.length]
          const { plan_id } = await plan(api, { on, when, ...fault })
          if ('reset' in fault) await assert.rejects(perform(payment), { code: 'ECONNRESET' })
          else {
            const { status, headers } = await perform(payment)
            assert.equal(status === 503, 'answer' in fault)
            assert.equal(headers.get('retry-after'), 'answer' in fault ? '1' : null)
            if ('answer' in fault) assert.equal(headers.get('location'), null)
          }
          const happened = when === 'after' || 'delay' in fault
          assert.equal((await total()) - before, Number(on === 'createPayment' && happened))
          const cancelled = on === 'cancelPayment' && happened
          const opened = on === 'openPaymentPage' && happened
          const { state } = await read(api, payment)
          assert.equal(state.status, cancelled ? 'cancelled' : opened ? 'started' : 'created')
          assert.equal(receiver.requests.length - sent, Number(cancelled))
          const row = (await control(api, `requests?operation=${on}`)).body.results.findLast(
            (each: Body) => each.plan === plan_id,
          )
          assert.equal(row.answered, answered)
          if ('reset' in fault && when === 'before') assert.equal(row.status, null)
          await control(api, 'plans', undefined, 'DELETE')
        }
  })

  test('an error of a plan is the API’s own, also with a status of the test’s choice, and a page on pages', async () => {
    const api = await service().newAccount()
    const real = await send({ ...api, key: 'none' }, '/v1/payments')
    for (const when of ['before', 'after']) {
      await plan(api, { on: 'searchPayments', when, answer: { status: 401 } })
      const planned = await send(api, '/v1/payments')
      assert.deepEqual([planned.status, planned.body], [401, real.body])
      for (const name of ['www-authenticate', 'content-type'])
        assert.equal(planned.headers.get(name), real.headers.get(name), name)
      await plan(api, { on: 'createPayment', when, answer: { status: 402, code: 'P0010' } })
      const { status, body } = await create(api)
      assert.deepEqual([status, body], [402, { code: 'P0010', description: body.description }])
      const { _links } = await api.createPayment()
      await plan(api, { on: 'openPaymentPage', when, answer: { status: 500 } })
      const page = await send(api, _links.next_url.href)
      assert.equal(page.status, 500)
      assert.match(page.text, /^<!doctype html>/i)
      await plan(api, { on: 'openPaymentPage', when, answer: { status: 503 } })
      assert.equal((await send(api, _links.next_url.href)).headers.get('retry-after'), '1')
    }
  })

  test('a delay holds the request and ends at once with a reset of the account', async () => {
    const api = await service().newAccount()
    await plan(api, { on: 'createPayment', when: 'after', delay: 60_000 })
    await plan(api, { on: 'readPayment', delay: 60_000 })
    const { payment_id } = (await control(api, 'payments', {})).body
    const held = Promise.all([create(api), send(api, `/v1/payments/${payment_id}`)])
    while ((await counts(api)).some(([, acted]) => acted === 0));
    while ((await api.get('/v1/payments')).body.total < 2);
    await control(api, 'reset', {})
    const [created, found] = await held
    assert.deepEqual([created.status, found.status], [201, 200])
    assert.deepEqual(await listed(api), [])
  })

  test('requests that a plan delays take places of their account, before and after their effect', async () => {
    // On PostgreSQL there are two instances, each with as many places.
    if (service().kind === 'postgres') return
    const other = await service().newAccount()
    for (const when of ['before', 'after']) {
      const api = await service().newAccount()
      const { payment_id } = await api.createPayment()
      await plan(api, { on: 'readPayment', when, delay: 60_000, times: 'always' })
      const leaving = new AbortController()
      const read = () =>
        fetch(`${service().baseUrl}/v1/payments/${payment_id}`, {
          headers: { Authorization: `Bearer ${api.key}` },
          signal: leaving.signal,
        })
      const delayed = Array.from({ length: REQUESTS_OF_ACCOUNT }, read)
      const { database } = service()
      const acted = 'select max(acted) as most from plans'
      while ((await database.query<{ most: number }>(acted))[0]?.most !== REQUESTS_OF_ACCOUNT);
      // Meanwhile the requests that the plan delays after their effect have that effect.
      for (let i = 0; i < 50; i++) await other.get(`/v1/payments/${payment_id}`)
      assert.equal((await read()).status, 503, when)
      leaving.abort()
      await Promise.allSettled(delayed)
      await database.write([{ sql: 'delete from plans', values: [] }])
    }
  })

  test('a delay ends when its client leaves, and the request has its effect then', async () => {
    const api = await service().newAccount()
    await plan(api, { on: 'createPayment', delay: 60_000 })
    const leaving = new AbortController()
    const left = fetch(`${service().baseUrl}/v1/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(webPayment),
      signal: leaving.signal,
    })
    while ((await counts(api)).some(([, acted]) => acted === 0));
    leaving.abort()
    await assert.rejects(left, { name: 'AbortError' })
    while ((await api.get('/v1/payments')).body.total < 1);
  })

  test('a delay between two lies between them, and is the same in each run', () => {
    const delays = Array.from({ length: 100 }, (_, i) => delayOf({ delay: [200, 900] }, i + 1))
    assert.deepEqual(delays.slice(0, 4), [633, 365, 798, 530])
    assert.ok(delays.every(delay => delay >= 200 && delay <= 900))
    assert.ok(Math.min(...delays) < 210 && Math.max(...delays) > 890)
  })

  test('a plan answers with every code of GOV.UK Pay that never happens here, and its status', async () => {
    const api = await service().newAccount()
    for (const [code, { status, text }] of Object.entries(onlyByPlan)) {
      await plan(api, { on: 'createPayment', answer: { code } })
      const answer = await create(api)
      assert.deepEqual([answer.status, answer.body], [status, { code, description: text }])
    }
    assert.equal((await api.get('/v1/payments')).body.total, 0)
  })

  test('a fault of a plan without a code has the code of its operation', async () => {
    const api = await service().newAccount()
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    const { paths } = (await api.get('/openapi.json')).body
    await plan(api, { answer: { status: 500 }, times: 'always' })
    const json = { ...card, ...moto._links.auth_url_post.params }
    let operations = 0
    for (const [path, methods] of Object.entries<Body>(paths))
      for (const [method, { operationId }] of Object.entries<Body>(methods)) {
        if (!path.startsWith('/v1/')) continue
        const address = path.replaceAll(/\{\w+\}/g, moto.payment_id)
        const sent = method === 'post' ? { method: 'POST', json } : { method: method.toUpperCase() }
        const { status, body } = await send(api, address, sent)
        const expected = [500, faultCodeOf(operationId) ?? 'P0999']
        assert.deepEqual([status, body.code], expected, operationId)
        operations += 1
      }
    assert.equal(operations, Object.keys(endpoints).length)
    assert.equal(faultCodeOf('listWebhooks'), undefined)
    assert.equal(faultCodeOf('authorisePayment'), 'P0050')
  })
})
