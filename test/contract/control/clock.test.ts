import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../../src/core/time.ts'
import { sweep } from '../../../src/pay/retention.ts'
import { briefOf } from '../../support/assertions.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { asking, assertRefused, testAccount } from '../../support/control.ts'
import { paidPayment, read } from '../../support/journeys.ts'
import { fc } from '../../support/properties.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { interleaving } from '../../support/watched.ts'

const TEN_YEARS = 3_653 * DAY
/** 2.33 hours in milliseconds: the payments of this time are deleted together. */
const TOGETHER = 8_388_608
const REFUND = 5_000
const AT = Date.parse('2026-03-29T00:59:58.000Z')

const ms = fc.oneof(fc.integer({ min: 0, max: 2 * REFUND }), fc.constantFrom(DAY, 3 * DAY, 7 * DAY))
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom('advance' as const, 'freezeAt' as const), ms }),
    // Days of the machine's time would end the test account, so a wait has at most 10 seconds.
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 10_000 }) }),
    fc.record({ do: fc.constantFrom('freeze' as const, 'resume' as const) }),
    fc.record({ do: fc.constantFrom('pay' as const, 'refund' as const) }),
  ),
  { minLength: 4, maxLength: 14 },
)

onEveryDatabase('The clock of an account', { control: true }, service => {
  const control = asking(service)
  const childOf = async (of: Client, fields?: object): Promise<Client> =>
    (await testAccount(service(), of, fields)).api
  const now = async (api: Client) => Date.parse((await control(api, 'clock')).body.now)

  test('any sequence of advances, freezes and payments is what a model of one number says', async () => {
    const parent = await service().newAccount()
    await fc.assert(
      fc.asyncProperty(steps, async sequence => {
        const api = await childOf(parent, { at: new Date(AT).toISOString(), frozen: false })
        let expected = AT
        let frozen = false
        const paid: { at: number; payment: Body }[] = []
        const refunds: { at: number; href: string }[] = []
        for (const step of sequence) {
          if (step.do === 'wait') {
            service().clock.advance(step.ms)
            if (!frozen) expected += step.ms
          } else if (step.do === 'advance') {
            await control(api, 'clock', { advance: step.ms })
            expected += step.ms
          } else if (step.do === 'freezeAt') {
            frozen = true
            expected += step.ms
            const { body } = await control(api, 'clock', { freeze: new Date(expected) })
            assert.deepEqual(body, { now: new Date(expected).toISOString(), frozen })
          } else if (step.do === 'pay') paid.push({ at: expected, payment: await paidPayment(api) })
          else if (step.do === 'refund') {
            const last = paid.at(-1)
            if (!last || expected - last.at >= 7 * DAY) continue
            const { body } = await api.post(last.payment._links.refunds.href, { amount: 1 })
            refunds.push({ at: expected, href: body._links.self.href })
          } else {
            frozen = step.do === 'freeze'
            await control(api, 'clock', { [step.do]: true })
          }
          assert.equal(await now(api), expected)
        }
        const kept = paid.filter(({ at }) => expected - at < 7 * DAY)
        const { body } = await api.get('/v1/payments')
        const found = body.results.map(({ created_date }: Body) => Date.parse(created_date))
        assert.deepEqual(found.sort(), kept.map(({ at }) => at).sort())
        for (const { at, href } of refunds) {
          const { status, body: refund } = await api.get(href)
          if (status === 200)
            assert.equal(refund.status, expected - at >= REFUND ? 'success' : 'submitted')
        }
      }),
      { numRuns: 6 },
    )
  })

  test('the clock never goes back, whatever requests come at once, which all count, and a search has the order of creation', async () => {
    const api = createClient([service().baseUrl], (await service().newAccount()).key)
    const seen: number[] = []
    const created: string[] = []
    let over = false
    const before = await now(api)
    const look = async () => {
      while (!over) {
        seen.push(await now(api))
        created.push((await api.createPayment()).payment_id)
      }
    }
    const looking = look()
    const moves = [{ advance: 700 }, { freeze: true }, { resume: true }]
    await Promise.all(Array.from({ length: 12 }, (_, i) => control(api, 'clock', moves[i % 3])))
    over = true
    await looking
    assert.equal(await now(api), before + 4 * 700)
    const forward = seen.toSorted((a, b) => a - b)
    assert.deepEqual(seen, forward)
    const found = (await api.get('/v1/payments')).body.results.map((one: Body) => one.payment_id)
    assert.deepEqual(found, created.reverse())
  })

  test('an advance by a year moves the times of users, and none of the machine', async () => {
    const parent = await service().newAccount()
    const child = await childOf(parent, { name: 'a-year' })
    const sibling = await childOf(parent)
    const listener = (await control(child, 'listeners', { name: 'laptop' })).body
    const key = { 'Idempotency-Key': 'k-1' }
    const gone = await child.createPayment({}, key)
    const kept = await sibling.createPayment()
    const before = await now(sibling)
    const { expires } = (await control(parent, 'accounts')).body.results[0]
    await control(child, 'clock', { advance: 365 * DAY })
    // The account's clock: the payment is gone, and its idempotency key is free again.
    assert.equal((await child.get(gone._links.self.href)).status, 404)
    assert.equal((await child.get(gone._links.next_url.href)).status, 404)
    assert.notEqual((await child.createPayment({}, key)).payment_id, gone.payment_id)
    // The machine's clock: the API key, the end of the account, the listener, and every other account.
    assert.equal((await child.get('/v1/payments')).status, 200)
    assert.equal((await control(parent, 'accounts')).body.results[0].expires, expires)
    const again = (await control(child, 'listeners', { name: 'laptop' })).body
    assert.deepEqual([again.webhook_id, again.other], [listener.webhook_id, true])
    assert.equal(await now(sibling), before)
    assert.equal((await sibling.get(kept._links.self.href)).status, 200)
    assert.equal(await now(parent), service().clock.now())
  })

  test('the clock cannot be moved back, beyond 2099, more than ten years at once, or by two fields at once', async () => {
    const api = await service().newAccount()
    const before = await now(api)
    const back = { freeze: '2020-01-01T00:00:00Z' }
    assert.equal(briefOf(await control(api, 'clock', back)), '409 C0409')
    await assertRefused(service(), api, 'clock', [
      [{ freeze: '2100-01-01T00:00:00Z' }, 'freeze'],
      [{ freeze: 'tomorrow' }, 'freeze'],
      [{ freeze: ['2060-04-30T00:00:00Z'] }, 'freeze'],
      [{ advance: -1 }, 'advance'],
      [{ advance: 1.5 }, 'advance'],
      [{ advance: TEN_YEARS + 1 }, 'advance'],
      [{ resume: false }, 'resume'],
      [{ advance: 1, resume: true }, 'resume'],
      [{ freeze: '2060-04-31T00:00:00Z' }, 'freeze'],
      [{}, 'advance', 'C0101'],
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
    clock.advance(7 * DAY + DAY + TOGETHER)
    const rowsAfterSweep = async () => {
      await sweep(database, clock.now())
      return database.query('select payment_id from payments where payment_id in ($1, $2)', [
        kept.payment_id,
        gone.payment_id,
      ])
    }
    assert.deepEqual(await rowsAfterSweep(), [{ payment_id: kept.payment_id }])
    await read(frozen, kept)
    await control(frozen, 'clock', { advance: 7 * DAY + DAY - 1 })
    assert.deepEqual(await rowsAfterSweep(), [{ payment_id: kept.payment_id }])
    await control(frozen, 'clock', { advance: 1 + TOGETHER })
    assert.deepEqual(await rowsAfterSweep(), [])
  })

  test('a request is recorded at the time of a clock that stands still, however long it took', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const { now } = (await control(api, 'clock', { freeze: true })).body
    beforeWrite(async () => service().clock.advance(5))
    await api.createPayment()
    assert.equal((await control(api, 'requests')).body.results[0].at, now)
  })
})
