import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overloaded } from '../../../src/core/errors.ts'
import type { Value } from '../../../src/core/ports.ts'
import { activeAgreement, payByAgreement } from '../../support/agreements.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { choose, paidPayment, read } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { mockQueries, mockWrites } from '../../support/watched.ts'

const MINUTE = 60_000

const sent: Body[] = []

onEveryDatabase(
  'Due steps',
  {
    control: true,
    resolve: async () => ['93.184.216.34'],
    async send({ body }) {
      sent.push(JSON.parse(body))
      return { status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }
    },
  },
  service => {
    /** Asks the database, because a request would take the steps. */
    const owed = async (name: string): Promise<number> => {
      const [row] = await service().database.query<{ count: number }>(
        `select cast(count(*) as integer) as count from payments join accounts on room = account
         where name = $1 and due_at <= coalesce(frozen_at, cast($2 as bigint) + clock_offset)`,
        [name, service().time.wall()],
      )
      return row?.count ?? 0
    }
    const subscribed = (api: Client) =>
      ask(service(), api, 'webhooks', { callback_url: 'https://hooks.example.org/' })

    /** Only a query for due steps has both the account and this moment among its values. */
    const asksForDue = (name: string, values: readonly Value[]): boolean =>
      values.includes(name) && values.includes(service().clock.now())

    const sentAbout = async (payments: Body[]): Promise<string[]> => {
      for (const { deliveries } of service().apps) await deliveries.settled()
      const ids = payments.map(({ payment_id }) => payment_id)
      return sent.filter(each => ids.includes(each.resource_id)).map(each => each.event_type)
    }

    test('a clock that moves over many steps takes all of them before it answers, in their order, each at its own time, also if their messages find no space at first', async t => {
      const { name, api } = await service().namedAccount('govuk-pay')
      const agreement = await activeAgreement(api)
      await api.advance(MINUTE)
      await subscribed(api)
      await ask(service(), api, 'clock', { freeze: true })
      // More payments than share a commit. Each is charged 2 seconds later, and captured 5 seconds after that.
      const charges: Body[] = []
      for (let i = 0; i < 40; i++) {
        charges.push((await payByAgreement(api, agreement)).body)
        // Below the limit of requests in a second.
        if (i % 10 === 9) service().clock.advance(1_000)
      }
      const web = await api.createPayment()
      let refusals = 2
      mockWrites(t, service().database, (write, statements) => {
        const isStep = statements.some(({ values }) => values?.includes('card_payment_captured'))
        return isStep && refusals-- > 0 ? Promise.reject(overloaded()) : write()
      })
      await api.advance(120 * MINUTE)
      assert.deepEqual([await owed(name), refusals < 0], [0, true])
      // Reading uses up the rate as well.
      service().clock.advance(1_000)
      const ended = await Promise.all(charges.map(each => read(api, each)))
      for (const { created_date, settlement_summary, refund_summary } of ended) {
        assert.equal(refund_summary.status, 'available')
        const captured = Date.parse(settlement_summary.capture_submit_time)
        assert.equal(captured - Date.parse(created_date), 7_000)
      }
      const { events } = (await api.get(`/v1/payments/${web.payment_id}/events`)).body
      assert.equal(Date.parse(events.at(-1).updated) - Date.parse(web.created_date), 90 * MINUTE)
      const each = ['card_payment_captured', 'card_payment_succeeded']
      const wanted = [...charges.flatMap(() => each), 'card_payment_expired']
      assert.deepEqual((await sentAbout([...charges, web])).sort(), wanted.sort())
    })

    test('of many that meet a step at once, on two instances, one takes it, and its message is the only one', async () => {
      const { name, api } = await service().namedAccount('govuk-pay')
      await subscribed(api)
      const payments = await Promise.all([0, 1, 2].map(() => paidPayment(api)))
      // The machine's clock moves, so nobody is told that something fell due.
      service().clock.advance(5_000)
      assert.equal(await owed(name), 3)
      await Promise.all([
        ...payments.flatMap(each => Array.from({ length: 6 }, () => read(api, each))),
        ...Array.from({ length: 4 }, () => api.get('/v1/payments')),
        ...service().apps.map(app => app.doAllDue()),
      ])
      assert.equal(await owed(name), 0)
      const captured = (await sentAbout(payments)).filter(each => each === 'card_payment_captured')
      assert.equal(captured.length, 3)
      const again = await Promise.all(payments.map(each => read(api, each)))
      for (const { refund_summary } of again) assert.equal(refund_summary.status, 'available')
    })

    test('a clock that moves to a time at which the payments are gone takes their steps, also if they fall in one batch', async () => {
      const { name, api } = await service().namedAccount('govuk-pay')
      const agreement = await activeAgreement(api)
      await ask(service(), api, 'clock', { freeze: true })
      await api.advance(MINUTE)
      await ask(service(), api, 'plans', { scenario: 'declined', times: 2 })
      // Each of them ends the agreement.
      for (let i = 0; i < 2; i++) await payByAgreement(api, agreement)
      await api.advance(181 * 24 * 60 * MINUTE)
      assert.equal(await owed(name), 0)
    })

    test('a clock that stands still makes nothing due, and the background takes what no request meets', async t => {
      const [frozen, running] = await Promise.all([
        service().namedAccount('govuk-pay'),
        service().namedAccount('govuk-pay'),
      ])
      await ask(service(), frozen.api, 'clock', { freeze: true })
      await frozen.api.createPayment()
      // 33 payments: more than one commit takes, in three seconds because of the rate.
      for (let second = 0; second < 3; second++) {
        await Promise.all(Array.from({ length: 11 }, () => running.api.createPayment()))
        service().clock.advance(1_000)
      }
      service().clock.advance(90 * MINUTE)
      assert.deepEqual([await owed(frozen.name), await owed(running.name)], [0, 33])
      let searches = 0
      mockQueries(t, service().database, async (query, [first]) => {
        if (first === '') searches += 1
        return query()
      })
      await service().apps[0]?.doAllDue()
      // The accounts with due payments are searched for once, not for each batch.
      assert.deepEqual([await owed(running.name), searches], [0, 1])
      const status = async (api: Client) =>
        (await api.get('/v1/payments')).body.results[0].state.status
      assert.deepEqual([await status(frozen.api), await status(running.api)], ['created', 'failed'])
    })

    test('steps that an account left behind at its resets, or that fail, do not hold up those of others', async t => {
      const { api, name } = await service().namedAccount('govuk-pay')
      const account = async (name: string) => {
        const { body } = await ask(service(), api, 'accounts', { name, behaviour: 'govuk-pay' })
        return createClient(service().baseUrls, body.key, 'govuk-pay')
      }
      const [left, other] = [await account('a'), await account('b')]
      for (let room = 0; room < 100; room++) {
        await left.createPayment()
        await ask(service(), left, 'reset', {})
        service().clock.advance(100)
      }
      await Promise.all([left, other].map(each => each.createPayment()))
      service().clock.advance(90 * MINUTE)
      mockQueries(t, service().database, async (query, values) => {
        assert.ok(!values.includes(`${name}/a#100`), 'a query that fails')
        return query()
      })
      assert.equal(await owed(`${name}/b`), 1)
      await assert.rejects(async () => service().apps[0]?.doAllDue(), /a query that fails/)
      assert.equal(await owed(`${name}/b`), 0)
    })

    test('a change meets what is due first, and so do the pages', async () => {
      const api = await service().newAccount('govuk-pay')
      const [expired, opened] = await Promise.all([0, 1].map(() => api.createPayment()))
      const paid = await paidPayment(api)
      const { body: charged } = await payByAgreement(api, await activeAgreement(api))
      service().clock.advance(90 * MINUTE)
      const cancelled = await api.post(`/v1/payments/${expired.payment_id}/cancel`)
      assert.deepEqual([cancelled.status, cancelled.body.code], [400, 'P0501'])
      const page = await choose(api, opened, 'success')
      assert.equal(page.status, 200)
      assert.match(page.text, /has expired/)
      const refunded = await api.post(`/v1/payments/${paid.payment_id}/refunds`, { amount: 1 })
      assert.equal(refunded.status, 202)
      const { refund_summary } = await read(api, charged)
      assert.equal(refund_summary.status, 'available', 'its charge and its capture were due')
    })

    for (const [happens, path, body] of [
      ['is reset', 'reset', {}],
      ['stops its clock', 'clock', { freeze: true }],
    ] as const)
      test(`a search ends although its account ${happens} meanwhile, and steps of before would be due by now`, async t => {
        const { database, clock, baseUrls } = service()
        const { api, name } = await service().namedAccount('govuk-pay')
        await api.createPayment()
        clock.advance(1)
        await api.createPayment()
        clock.advance(90 * MINUTE - 1)
        let looks = 0
        mockQueries(t, database, async (query, values) => {
          const rows = await query()
          if (!asksForDue(name, values)) return rows
          looks += 1
          assert.ok(looks < 20, 'it looks without end')
          if (looks > 1) return rows
          await ask(service(), api, path, body)
          clock.advance(1)
          return rows
        })
        const first = createClient(baseUrls.slice(0, 1), api.key, 'govuk-pay')
        assert.equal((await first.get('/v1/payments')).status, 200)
      })

    test('an account that behaves as the specification asks for nothing that is due', async t => {
      const { name, api } = await service().namedAccount()
      const payment = await paidPayment(api)
      assert.equal(await owed(name), 0)
      let asked = 0
      mockQueries(t, service().database, (query, values) => {
        if (asksForDue(name, values)) asked += 1
        return query()
      })
      await api.get('/v1/payments')
      await read(api, payment)
      assert.equal(asked, 0)
    })
  },
)
