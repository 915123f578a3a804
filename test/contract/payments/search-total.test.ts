import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFarthing } from '../../../src/app/start.ts'
import { createTime } from '../../../src/core/time.ts'
import { sweep } from '../../../src/pay/retention.ts'
import { createClient } from '../../support/client.ts'
import { onEveryDatabase } from '../../support/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const iso = (time: number): string => new Date(time).toISOString()

onEveryDatabase('Payments: total of a search', { control: true }, service => {
  test('the total of a payment search is the number of payments created in its date range', async () => {
    const api = await service().newAccount()
    const other = await service().newAccount()
    const made: number[] = []
    for (let i = 0; i < 8; i++) {
      made.push(await api.now())
      await api.createPayment()
      await other.createPayment()
      const step = i % 4 === 0 ? 0 : i % 3 === 0 ? 1 : 2.5 * HOUR + i
      for (const account of [api, other]) await account.advance(step)
    }
    const [first = 0, last = 0] = [made[0], made.at(-1)]
    const edges = [...made, ...made.map(at => at + 1), first - HOUR, last + HOUR]
    for (const [i, from] of edges.entries()) {
      const until = edges[(i * 7 + 3) % edges.length] ?? 0
      const { body } = await api.get(`/v1/payments?from_date=${iso(from)}&to_date=${iso(until)}`)
      const expected = made.filter(at => at >= from && at < until).length
      assert.equal(body.total, expected, `from ${iso(from)} to ${iso(until)}`)
      const since = (await api.get(`/v1/payments?from_date=${iso(from)}`)).body.total
      assert.equal(since, made.filter(at => at >= from).length, `from ${iso(from)}`)
      const before = (await api.get(`/v1/payments?to_date=${iso(from)}`)).body.total
      assert.equal(before, made.filter(at => at < from).length, `to ${iso(from)}`)
    }
  })

  test('the total of a payment search leaves out expired payments, whether they were deleted or not', async () => {
    const api = await service().newAccount()
    const made: number[] = []
    for (let i = 0; i < 12; i++) {
      made.push(await api.now())
      await api.createPayment()
      await api.advance(HOUR / 2)
    }
    await api.advance(7 * DAY - 6 * HOUR - 1)
    for (let i = 0; i < 14; i++) {
      const now = await api.now()
      const kept = made.filter(at => now - at < 7 * DAY).length
      assert.equal((await api.get('/v1/payments')).body.total, kept)
      if (i % 3 === 0) await sweep(service().database, now + DAY) // as late as a day after
      await api.advance(HOUR / 2)
    }
  })

  test('the total and the results of a payment search are of the same moment, even while a payment expires', async t => {
    const { key, createPayment } = await service().newAccount()
    const gone = service().clock.now() + 7 * DAY
    await createPayment()
    let now = 0
    const config = { ...service().config, apiKey: undefined, fixedKeys: [] }
    const farthing = await startFarthing({
      config,
      backgroundWork: false,
      // Each call returns the next millisecond.
      ports: real => ({ ...real, time: createTime(() => now++) }),
    })
    t.after(() => farthing.close())
    const api = createClient([farthing.url], key)
    const totals: number[] = []
    for (let before = 10; before >= 0; before--) {
      now = gone - before
      const { total, count } = (await api.get('/v1/payments')).body
      assert.equal(total, count, `${before} ms before`)
      totals.push(total)
    }
    assert.deepEqual([totals.at(0), totals.at(-1)], [1, 0])
  })
})
