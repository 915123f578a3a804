import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import type { Answer, Body } from '../../support/client.ts'
import { read } from '../../support/journeys.ts'
import { planning } from '../../support/plans.ts'
import { startReceiver } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'

const receiver = await startReceiver({ plain: true })
after(() => receiver.close())

const reset = { code: 'ECONNRESET' }

onEveryDatabase(
  'Faults that a plan makes',
  service => {
    const { control, plan, listed, counts, send, create, records } = planning(service)

    test('a fault before the handler leaves nothing, and one after it leaves everything', async () => {
      const api = await service().newAccount()
      await api.post('/v1/webhooks', { callback_url: receiver.url })
      const operations: [string, (payment: Body) => Promise<Answer>][] = [
        ['createPayment', () => create(api)],
        ['readPayment', ({ payment_id }) => send(api, `/v1/payments/${payment_id}`)],
        [
          'cancelPayment',
          ({ payment_id }) => send(api, `/v1/payments/${payment_id}/cancel`, { method: 'POST' }),
        ],
        ['openPaymentPage', ({ _links }) => send(api, _links.next_url.href)],
      ]
      const total = async () => (await api.get('/v1/payments')).body.total
      for (const [on, perform] of operations)
        for (const when of ['before', 'after'] as const)
          for (const fault of [{ answer: { status: 503 } }, { reset: true }, { delay: 20 }]) {
            const payment = await api.createPayment()
            const [before, sent] = [await total(), receiver.requests.length]
            const { plan_id } = await plan(api, { on, when, ...fault })
            if ('reset' in fault) await assert.rejects(perform(payment), reset)
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
            const [ended] = Object.keys(fault)
            assert.equal(
              row.answered,
              { answer: 'replaced', reset: 'reset', delay: 'sent' }[ended ?? ''],
            )
            if ('reset' in fault && when === 'before') assert.equal(row.status, null)
            await control(api, 'plans', undefined, 'DELETE')
          }
    })

    test('an error is the API’s own, also with a status of the test’s choice, and on pages it is a page', async () => {
      const api = await service().newAccount()
      const real = await send({ ...api, key: 'none' }, '/v1/payments')
      for (const when of ['before', 'after']) {
        await plan(api, { on: 'searchPayments', when, answer: { status: 401 } })
        const planned = await send(api, '/v1/payments')
        assert.deepEqual([planned.status, planned.body], [401, real.body])
        assert.equal(planned.headers.get('www-authenticate'), 'Bearer')
        assert.equal(planned.headers.get('content-type'), real.headers.get('content-type'))
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

    test('after a lost answer the same Idempotency-Key is 409, and there is one payment', async () => {
      const api = await service().newAccount()
      await plan(api, { on: 'createPayment', when: 'after', reset: true })
      const key = { 'Idempotency-Key': 'k-1' }
      await assert.rejects(create(api, {}, key), reset)
      const again = await create(api, {}, key)
      assert.deepEqual([again.status, again.body.code], [409, 'P0191'])
      assert.equal((await api.get('/v1/payments')).body.total, 1)
      const rows = await records(api)
      assert.deepEqual(rows.map(({ status, answered }) => [status, answered]).slice(0, 2), [
        [201, 'reset'],
        [409, 'sent'],
      ])
    })

    test('a delay holds the request and ends at once with a reset of the account', async () => {
      const api = await service().newAccount()
      await plan(api, { on: 'createPayment', when: 'after', delay: 60_000 })
      await plan(api, { on: 'readPayment', delay: 60_000 })
      const { payment_id } = await (async () => {
        const { body } = await control(api, 'payments', {})
        return body
      })()
      const held = [create(api), send(api, `/v1/payments/${payment_id}`)]
      while ((await counts(api)).some(([, acted]) => acted === 0));
      while ((await api.get('/v1/payments')).body.total < 2);
      await control(api, 'reset', {})
      const answers = await Promise.all(held)
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 200],
      )
      assert.deepEqual(await listed(api), [])
    })

    test('the draw is a hash of the seed and the count: every instance draws the same', async () => {
      const api = await service().newAccount()
      const chance = (seen: number) =>
        createHash('sha256').update(`7:${seen}`).digest().readUInt32BE(0) / 2 ** 32
      const expected = Array.from({ length: 20 }, (_, i) => (chance(i + 1) < 0.4 ? 500 : 200))
      assert.equal(new Set(expected).size, 2)
      for (let run = 0; run < 2; run++) {
        const drawn = { on: 'searchPayments', answer: { status: 500 }, probability: 0.4, seed: 7 }
        await plan(api, { ...drawn, times: 'always' })
        const statuses: number[] = []
        for (const _ of expected) statuses.push((await send(api, '/v1/payments')).status)
        assert.deepEqual(statuses, expected)
        await control(api, 'reset', {})
      }
      const { body, headers } = await send(api, '/v1/payments')
      await plan(api, { reset: true, probability: 0, times: 'always' })
      const same = await send(api, '/v1/payments')
      const dated = (given: Headers) => ({ ...Object.fromEntries(given), date: '' })
      assert.deepEqual([same.body, dated(same.headers)], [body, dated(headers)])
    })

    test('random plans and requests do what a model of thirty lines says', async () => {
      const api = await service().newAccount()
      let state = 20_260_914
      const pick = (below: number): number => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31
        return Math.floor((state / 2 ** 31) * below)
      }
      const references = ['A', 'B']
      const model: Body[] = []
      for (let i = 0; i < 6; i++) {
        const body = {
          ...(pick(2) && { given: { reference: references[pick(2)] } }),
          times: pick(4) || 'always',
          skip: pick(3),
          answer: { status: [500, 503][pick(2)] },
          probability: [1, 0.5][pick(2)],
          seed: pick(9),
          on: 'createPayment',
        }
        model.push({ ...(await plan(api, body)), ...body })
      }
      const expected = (reference: string): number => {
        for (const each of model) {
          if (each.given && each.given.reference !== reference) continue
          each.seen += 1
          const hash = createHash('sha256').update(`${each.seed}:${each.seen}`).digest()
          const drawn = hash.readUInt32BE(0) / 2 ** 32 < each.probability
          const left = each.times === 'always' || each.acted < each.times
          if (each.seen <= each.skip || !left || !drawn) continue
          each.acted += 1
          return each.answer.status
        }
        return 201
      }
      for (let i = 0; i < 40; i++) {
        const reference = references[pick(2)] ?? ''
        assert.equal((await create(api, { reference })).status, expected(reference), `request ${i}`)
      }
      assert.deepEqual(
        await counts(api),
        model.map(({ seen, acted }) => [seen, acted]),
      )
    })

    test('requests at once count each, and a plan acts as often as it says', async () => {
      const api = await service().newAccount()
      await plan(api, { on: 'createPayment', skip: 5, times: 7, answer: { status: 503 } })
      await plan(api, { scenario: 'declined', times: 9 })
      const answers = await Promise.all(Array.from({ length: 40 }, () => create(api)))
      assert.equal(answers.filter(({ status }) => status === 503).length, 7)
      assert.deepEqual(await counts(api), [
        [40, 7],
        [33, 9],
      ])
      const pages = answers.flatMap(({ body }) => body._links?.next_url.href ?? [])
      const opened = await Promise.all(pages.map(page => send(api, page)))
      assert.equal(opened.filter(({ text }) => /declined/.test(text)).length >= 9, true)
      assert.equal((await api.get('/v1/payments?state=failed')).body.total, 9)
    })
  },
  {
    resolve: async () => ['127.0.0.1'],
    env: {
      FARTHING_CONTROL: 'true',
      FARTHING_CALLBACK_HOSTS: `localhost:${receiver.port}`,
    },
  },
)
