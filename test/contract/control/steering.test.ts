import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startFarthing } from '../../../src/app/start.ts'
import { briefOf } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask, asking, assertRefused, made } from '../../support/control.ts'
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
    const unknown = await complete(api, payment, { scenario: 'refunded' })
    assert.equal(briefOf(unknown), '422 C0102 scenario')
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
    const refund = { amount: 1450, scenario: 'error' }
    await made(build(api, { reference: 'R-8', scenario: 'success', refund }))
    await api.advance(5_000)
    assert.deepEqual(await find('status=refunded'), ['R-7'], 'the refund of the other failed')
    assert.deepEqual(await find('reference=R'), [])
  })

  test('a query parameter that an endpoint does not have is refused, and changes nothing', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const { body: plan } = await control(api, 'plans', { scenario: 'declined' })
    for (const [path, method] of [
      [`payments/${payment.payment_id}/complete?scenario=declined`, 'POST'],
      ['plans?reference=x', 'DELETE'],
    ] as const)
      assert.match(briefOf(await control(api, path, undefined, method)), /^422 C0103 /, path)
    assert.equal((await read(api, payment)).state.status, 'created')
    assert.deepEqual((await control(api, 'plans')).body.results, [plan])
  })

  test('a payment that is built without fields has an amount of £14.50, a number that no refusal uses up, and was just created', async () => {
    const api = await service().newAccount()
    const { body } = await build(api, {})
    assert.deepEqual(
      [body.amount, body.reference, body.description, body.return_url, body.state.status],
      [1450, 'payment-1', 'A payment', 'https://service.example.org/return', 'created'],
    )
    for (const fields of [{ amount: -1 }, { capture: true }]) await build(api, fields)
    const more = await Promise.all([build(api, {}), build(api, {})])
    const references = new Set(more.map(({ body }) => body.reference))
    if (service().kind === 'sqlite')
      assert.deepEqual([...references].sort(), ['payment-2', 'payment-3'])
  })

  const paid = { scenario: 'success' }
  const delayed = { delayed_capture: true }
  const moto = { authorisation_mode: 'moto_api' }
  // scenarios.test.ts tests payments that end with a scenario.
  const courses = [
    [{ cancel: true }, 'created cancelled', 0],
    [{ ...delayed, ...paid, cancel: true }, 'created started submitted capturable cancelled', 0],
    [
      { ...delayed, ...paid, capture: true, refund: 500 },
      'created started submitted capturable success',
      500,
    ],
    [{ ...paid, refund: true }, 'created started submitted success', 1450],
    [{ ...moto, cancel: true }, 'created cancelled', 0],
  ] as const

  test('a built payment can be cancelled, captured and refunded', async () => {
    const api = await service().newAccount()
    for (const [fields, statuses, refunded] of courses) {
      const body = await made(build(api, fields))
      assert.deepEqual(body, await read(api, body))
      assert.equal((await statusesOf(api, body)).join(' '), statuses)
      assert.equal(body.refund_summary.amount_submitted, refunded)
    }
    assert.equal((await api.get('/v1/refunds')).body.total, 2)
  })

  test('a course that the state table does not have is refused, and creates nothing', async () => {
    const api = await service().newAccount()
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
      // plans.test.ts tests the other impossible scenarios.
      [{ ...moto, scenario: 'cancel' }, 'scenario'],
      [{ email: 'x'.repeat(255) }, 'email', 'P0102'],
    ])
    assert.equal((await api.get('/v1/payments')).body.total, 0)
  })

  test('GET /control names the account, its clock and the parts that are on', async () => {
    const body = await made(control(await service().newAccount(), ''))
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
    const { database, config } = service()
    const warnings = async () => {
      const lines: string[] = []
      const logger = pino({ level: 'warn' }, { write: line => void lines.push(line) })
      const farthing = await startFarthing({ config, logger, backgroundWork: false })
      await farthing.close()
      return lines.map(line => JSON.parse(line).msg)
    }
    assert.deepEqual(await warnings(), [])
    const { name } = await service().namedAccount()
    const moved = { sql: 'update accounts set frozen_at = 1 where name = $1', values: [name] }
    await database.write([moved])
    // The service is shared, and its other tests start without a warning.
    t.after(() => database.write([{ sql: 'update accounts set frozen_at = null', values: [] }]))
    assert.match((await warnings()).join('\n'), /^1 account has a clock that was moved.*$/)
  })
})
