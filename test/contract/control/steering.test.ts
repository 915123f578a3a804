import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startFarthing } from '../../../src/app/start.ts'
import { briefOf } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask, asking, assertRefused } from '../../support/control.ts'
import { read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Payments through control', { control: true }, service => {
  const control = asking(service)
  const complete = (api: Client, { payment_id }: Body, body: object = {}) =>
    control(api, `payments/${payment_id}/complete`, body)
  const build = (api: Client, fields: object) => control(api, 'payments', fields)

  test('a payment cannot be completed twice, by another account, or with a word that is unknown or of another mode', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await assertRefused(service(), api, `payments/${payment.payment_id}/complete`, [
      [{ scenario: 'refunded' }, 'scenario'],
      [{ scenarios: 'success' }, 'scenarios', 'C0103'],
    ])
    assert.equal((await complete(await service().newAccount(), payment)).status, 404)
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    assert.equal(briefOf(await complete(api, moto, { scenario: 'cancel' })), '409 C0409')
    const completed = await complete(api, payment)
    assert.deepEqual(completed, { status: 200, body: await read(api, payment) })
    for (const body of [{ scenario: 'declined' }, { refund: true }]) {
      const again = await complete(api, payment, body)
      assert.equal(briefOf(again), '409 C0409')
      assert.match(again.body.description, /the payment is success/)
    }
  })

  test('a search reads the newest 1,000 payments, a hundred at a time, and returns the newest 100 that match', async () => {
    const api = await service().newAccount()
    const paid = await api.createPayment()
    await complete(api, paid)
    // Instances make identifiers of one millisecond in any order.
    await api.advance(1)
    for (let made = 0; made < 100; made += 50)
      await Promise.all(Array.from({ length: 50 }, () => api.createPayment()))
    await api.advance(1)
    const last = await api.createPayment()
    const find = async (query: string) =>
      (await control(api, `payments?${query}`)).body.results.map((each: Body) => each.payment_id)
    assert.deepEqual(await find('status=success'), [paid.payment_id])
    const newest = await find('status=created')
    assert.deepEqual([newest.length, newest[0]], [100, last.payment_id])
  })

  test('a wait ends when a payment matches, also if it has left the state again', async () => {
    const api = await service().newAccount()
    const find = async (query: string) =>
      (await control(api, `payments?${query}`)).body.results.map((each: Body) => each.reference)
    const waiting = find('reference=r-7&status=success&wait=10000')
    const payment = await api.createPayment({ reference: 'R-7' })
    assert.deepEqual(await find('reference=R-7&status=success'), [])
    await complete(api, payment)
    assert.deepEqual(await waiting, ['R-7'])
    assert.deepEqual(await find('status=started'), ['R-7'])
    assert.deepEqual(await find(`payment_id=${payment.payment_id}&status=refunded&wait=150`), [])
    await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 1 })
    assert.deepEqual(await find('status=refunded'), ['R-7'])
    assert.deepEqual(await find('reference=R'), [])
    assert.equal(briefOf(await control(api, 'payments?refrence=R-7')), '422 C0103 refrence')
  })

  test('a query parameter that an endpoint does not have is refused, and changes nothing', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const { body: plan } = await control(api, 'plans', { scenario: 'declined' })
    for (const [path, body, method] of [
      [`payments/${payment.payment_id}/complete?scenario=declined`, {}, 'POST'],
      ['reset?at=2026-01-01T00:00:00Z', {}, 'POST'],
      ['accounts?name=shop', {}, 'POST'],
      ['clock?advance=5', undefined, 'GET'],
      ['plans?reference=x', undefined, 'DELETE'],
      [`plans/${plan.plan_id}?reference=x`, undefined, 'DELETE'],
      ['messages/06h3k9v0u2j4m5n6p7q8r9s0t1/ask?posts=1', undefined, 'POST'],
      ['webhooks/06h3k9v0u2j4m5n6p7q8r9s0t1/probe?posts=1', undefined, 'POST'],
    ] as const) {
      assert.match(briefOf(await control(api, path, body, method)), /^422 C0103 /, path)
    }
    assert.equal((await read(api, payment)).state.status, 'created')
    assert.deepEqual((await control(api, 'plans')).body.results, [plan])
  })

  test('a payment that is built without fields has an amount of £14.50 and was just created', async () => {
    const api = await service().newAccount()
    const { status, body } = await build(api, {})
    assert.equal(status, 201)
    assert.deepEqual(body, await read(api, body))
    assert.deepEqual(
      [body.amount, body.reference, body.description, body.return_url, body.state.status],
      [1450, 'payment-1', 'A payment', 'https://service.example.org/return', 'created'],
    )
    const more = await Promise.all([build(api, {}), build(api, {})])
    const references = new Set(more.map(({ body }) => body.reference))
    if (service().kind === 'sqlite')
      assert.deepEqual([...references].sort(), ['payment-2', 'payment-3'])
  })

  const delayed = { delayed_capture: true }
  const moto = { authorisation_mode: 'moto_api' }
  // scenarios.test.ts has those that end with a scenario.
  const courses = [
    [{ cancel: true }, 'created cancelled', 0],
    [
      { ...delayed, scenario: 'success', cancel: true },
      'created started submitted capturable cancelled',
      0,
    ],
    [
      { ...delayed, scenario: 'success', capture: true, refund: 500 },
      'created started submitted capturable success',
      500,
    ],
    [{ scenario: 'success', refund: true }, 'created started submitted success', 1450],
    [{ ...moto, cancel: true }, 'created cancelled', 0],
  ] as const

  test('a built payment can be cancelled, captured and refunded', async () => {
    const api = await service().newAccount()
    for (const [fields, statuses, refunded] of courses) {
      const { status, body } = await build(api, fields)
      assert.equal(status, 201, JSON.stringify(body))
      assert.deepEqual(body, await read(api, body))
      assert.equal((await statusesOf(api, body)).join(' '), statuses)
      assert.equal(body.refund_summary.amount_submitted, refunded)
    }
    assert.equal((await api.get('/v1/refunds')).body.total, 2)
  })

  test('a course that the state table does not have is refused, and creates nothing', async () => {
    const api = await service().newAccount()
    const agreement_id = '0'.repeat(26)
    const agreement = { authorisation_mode: 'agreement', agreement_id }
    const paid = { scenario: 'success' }
    await assertRefused(service(), api, 'payments', [
      [{ capture: true }, 'capture'],
      [{ ...paid, capture: true }, 'capture'],
      [{ ...delayed, scenario: 'declined', capture: true }, 'capture'],
      [{ ...delayed, ...paid, refund: 1 }, 'refund'],
      [{ refund: true }, 'refund'],
      [{ ...paid, refund: 1451 }, 'refund'],
      [{ ...paid, refund: 0 }, 'refund'],
      [{ ...paid, refund: { amount: 0 } }, 'refund'],
      [{ ...paid, refund: { sum: 1 } }, 'refund.sum', 'C0103'],
      [{ ...paid, refund: { amount: 1, scenario: 'declined' } }, 'refund.scenario'],
      [{ ...paid, cancel: true }, 'cancel'],
      [{ cancel: 'yes' }, 'cancel'],
      [{ ...paid, hold: true, refund: 1 }, 'hold'],
      [{ scenario: 'expired' }, 'scenario'],
      [{ ...moto, scenario: 'cancel' }, 'scenario'],
      [{ ...agreement, scenario: 'cancel' }, 'scenario'],
      [{ scenario: 'paid' }, 'scenario'],
      [{ scenario: 'declined', can_retry: true }, 'can_retry'],
      [{ amout: 1 }, 'amout', 'C0103'],
      [{ email: 'x'.repeat(255) }, 'email', 'P0102'],
    ])
    assert.equal((await api.get('/v1/payments')).body.total, 0)
  })

  test('GET /control names the account, its clock and the parts that are on', async () => {
    const { status, body } = await control(await service().newAccount(), '')
    assert.equal(status, 200)
    assert.match(body.account, /^account-/)
    assert.equal(body.clock.frozen, false)
    const has = 'accounts clock payments plans check listeners messages requests console'
    assert.equal(body.has.join(' '), has)
  })
})

onSharedDatabases('Without FARTHING_CONTROL', service => {
  test('the paths that change payments and clocks are 404, and the error names the setting', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    for (const path of ['clock', 'payments', `payments/${payment_id}/complete`]) {
      const answer = await ask(service(), api, path)
      assert.equal(briefOf(answer), '404 P0911')
      assert.match(answer.body.description, /FARTHING_CONTROL=true/)
    }
    const { has } = (await ask(service(), api, '')).body
    assert.equal(has.join(' '), 'check listeners messages requests console')
  })

  test('a start with an account whose clock was moved warns that the machine’s time holds', async t => {
    const { database } = service()
    const warnings = async () => {
      const lines: string[] = []
      const logger = pino({ level: 'warn' }, { write: line => void lines.push(line) })
      const farthing = await startFarthing({
        config: service().config,
        logger,
        backgroundWork: false,
      })
      await farthing.close()
      return lines.map(line => JSON.parse(line).msg)
    }
    assert.deepEqual(await warnings(), [])
    const { name } = await service().newNamedAccount()
    await database.write([
      { sql: 'update accounts set frozen_at = 1 where name = $1', values: [name] },
    ])
    // The service is shared, and its other tests start without a warning.
    t.after(() => database.write([{ sql: 'update accounts set frozen_at = null', values: [] }]))
    const [warning, ...more] = await warnings()
    assert.match(warning, /^1 account has a clock that was moved/)
    assert.deepEqual(more, [])
  })
})
