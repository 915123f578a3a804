import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startFarthing } from '../../../src/app/start.ts'
import { sweep } from '../../../src/pay/retention.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask, asking, assertRefused } from '../../support/control.ts'
import { choose, paidPayment, payOnPages, read, statusesOf } from '../../support/journeys.ts'
import { newAgreement } from '../../support/new-payment.ts'
import { onEveryDatabase, onSharedDatabases } from '../../support/service.ts'
import { interleaving } from '../../support/watched.ts'

const DAY = 24 * 60 * 60 * 1000
const TEN_YEARS = 3_653 * DAY
/** The payments of 2.33 hours are deleted together. */
const TOGETHER = 8_388_608
const SEVEN_DAYS = 604_800_000

/** Identifiers, tokens and times, which differ between two payments that went the same way. */
const masked = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-v]{52}|[0-9a-v]{26}|\d{4}-\d\d-\d\dT[\d:.]+Z/g,
    '*',
  )

onEveryDatabase('The control API: outcomes, waits and clocks', { control: true }, service => {
  const control = asking(service)
  const complete = (api: Client, { payment_id }: Body, body: object = {}) =>
    control(api, `payments/${payment_id}/complete`, body)
  const rowsOf = ({ payment_id }: Body) =>
    Promise.all(
      ['payments', 'webhook_messages'].map(table =>
        service().database.query(`select * from ${table} where payment_id = $1 order by 1`, [
          payment_id,
        ]),
      ),
    )
  const now = async (api: Client) => Date.parse((await control(api, 'clock')).body.now)

  test('a payment completed through control is stored as one completed on the pages, and is returned as by GET', async () => {
    const api = await service().newAccount()
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    for (const scenario of ['success', 'declined', 'error', 'cancel']) {
      const sets = { set_up_agreement: await newAgreement(api) }
      // Of what was given only the agreement counts where nothing is paid.
      const paid = scenario === 'success' ? [{}, { delayed_capture: true }, { language: 'cy' }] : []
      for (const fields of [...paid, sets]) {
        const paged = await api.createPayment(fields)
        await api.get(paged._links.next_url.href)
        if (scenario === 'success') await payOnPages(api, paged)
        else await choose(api, paged, scenario)
        const completed = await api.createPayment(fields)
        const { status, body } = await complete(api, completed, { scenario })
        assert.equal(status, 200)
        assert.deepEqual(body, await read(api, completed))
        assert.equal(masked(body), masked(await read(api, paged)))
        assert.deepEqual(await statusesOf(api, completed), await statusesOf(api, paged))
        assert.equal(masked(await rowsOf(completed)), masked(await rowsOf(paged)))
      }
    }
  })

  test('a payment cannot be completed twice, by another account, or with a word that is unknown or of another mode', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    await assertRefused(service(), api, `payments/${payment.payment_id}/complete`, [
      [{ scenario: 'refunded' }, 'scenario'],
      [{ scenarios: 'success' }, 'scenarios', 'C0103'],
    ])
    assert.equal((await complete(await service().newAccount(), payment)).status, 404)
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    assert.equal((await complete(api, moto, { scenario: 'cancel' })).body.code, 'C0409')
    const both = await Promise.all([complete(api, payment), complete(api, payment)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
    for (const body of [{ scenario: 'declined' }, { refund: true }]) {
      const again = await complete(api, payment, body)
      assert.equal(again.body.code, 'C0409')
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
    const { body } = await control(api, 'payments?refrence=R-7')
    assert.deepEqual([body.code, body.field], ['C0103', 'refrence'])
  })

  test('a request is recorded at the time of a clock that stands still, however long it took', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const { now } = (await control(api, 'clock', { freeze: true })).body
    beforeWrite(async () => service().clock.advance(5))
    await api.createPayment()
    const { results } = (await control(api, 'requests')).body
    assert.deepEqual(
      results.map(({ at }: Body) => at),
      [now],
    )
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
      const refused = await control(api, path, body, method)
      assert.deepEqual([refused.status, refused.body.code], [422, 'C0103'], path)
    }
    assert.equal((await read(api, payment)).state.status, 'created')
    assert.deepEqual((await control(api, 'plans')).body.results, [plan])
  })

  test('simultaneous advances add up', async () => {
    const api = await service().newAccount()
    const before = await now(api)
    await Promise.all(Array.from({ length: 8 }, () => control(api, 'clock', { advance: 1_000 })))
    assert.equal(await now(api), before + 8_000)
  })

  test('the clock cannot be moved back, beyond 2099, more than ten years at once, or by two fields at once', async () => {
    const api = await service().newAccount()
    const before = await now(api)
    const back = await control(api, 'clock', { freeze: '2020-01-01T00:00:00Z' })
    assert.deepEqual([back.status, back.body.code], [409, 'C0409'])
    await assertRefused(service(), api, 'clock', [
      [{ freeze: '2100-01-01T00:00:00Z' }, 'freeze'],
      [{ freeze: 'tomorrow' }, 'freeze'],
      [{ advance: -1 }, 'advance'],
      [{ advance: 1.5 }, 'advance'],
      [{ advance: TEN_YEARS + 1 }, 'advance'],
      [{ resume: false }, 'resume'],
      [{ advance: 1, resume: true }, 'resume'],
      [{ freeze: '2060-04-31T00:00:00Z' }, 'freeze'],
      [{}, 'advance', 'C0101'],
      [{ back: 1 }, 'back', 'C0103'],
    ])
    assert.equal(await now(api), before)
    assert.equal((await control(api, 'clock', { advance: TEN_YEARS })).status, 200)
    assert.equal(await now(api), before + TEN_YEARS)
  })

  test('the sweep deletes the payments of an account whose clock is behind by its own time', async () => {
    const { clock, database } = service()
    const frozen = await service().newAccount()
    const running = await service().newAccount()
    await control(frozen, 'clock', { freeze: true })
    const kept = await paidPayment(frozen)
    const gone = await running.createPayment()
    clock.advance(SEVEN_DAYS + DAY + TOGETHER)
    const rowsAfterSweep = async () => {
      await sweep(database, clock.now())
      return database.query('select payment_id from payments where payment_id in ($1, $2)', [
        kept.payment_id,
        gone.payment_id,
      ])
    }
    assert.deepEqual(await rowsAfterSweep(), [{ payment_id: kept.payment_id }])
    await read(frozen, kept)
    await control(frozen, 'clock', { advance: SEVEN_DAYS + DAY - 1 })
    assert.deepEqual(await rowsAfterSweep(), [{ payment_id: kept.payment_id }])
    await control(frozen, 'clock', { advance: 1 + TOGETHER })
    assert.deepEqual(await rowsAfterSweep(), [])
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
      const { status, body } = await ask(service(), api, path)
      assert.deepEqual([status, body.code], [404, 'P0911'])
      assert.match(body.description, /FARTHING_CONTROL=true/)
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
    const freezeAt = (time: number | null) =>
      database.write([
        { sql: 'update accounts set frozen_at = $1 where name = $2', values: [time, name] },
      ])
    await freezeAt(1)
    // The service is shared, and its other tests start without a warning.
    t.after(() => freezeAt(null))
    const [warning, ...more] = await warnings()
    assert.match(warning, /^1 account has a clock that was moved/)
    assert.deepEqual(more, [])
  })
})
