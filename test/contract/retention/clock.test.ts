import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSweep } from '../../../src/app/background.ts'
import type { Database } from '../../../src/core/ports.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

onEveryDatabase('Retention: a clock that may be wrong', service => {
  const payments = async ({ database }: Service) =>
    (await database.query('select payment_id from payments')).length

  /** The sweep of a process that starts now. `pass` lets time pass; the service's clock may do something else. */
  function startSweeping(server: Database['serverTime']) {
    const { database, time, apps } = service()
    let passed = 0
    const lines: string[] = []
    const sweep = createSweep(
      {
        database: { ...database, serverTime: server },
        time,
        recorder: apps[0]?.recorder,
        elapsed: () => passed,
        warn: (line: unknown) => void lines.push(String(line)),
      },
      assert.ifError,
    )
    async function pass(ms: number) {
      for (const step of [ms - MINUTE, MINUTE]) {
        passed += step
        service().clock.advance(step)
        await sweep()
      }
    }
    return { sweep: () => sweep(), pass, lines }
  }

  const sameTime = async () => service().clock.now()

  test('The sweep deletes nothing in the first hour after a start, and then only what has been gone for a day', async () => {
    const { clock } = service()
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    const path = `/v1/payments/${payment_id}`
    clock.advance(20 * DAY)
    const { sweep, pass, lines } = startSweeping(sameTime)
    await sweep()
    await pass(HOUR - 1)
    assert.equal((await api.get(path)).status, 404)
    assert.equal(await payments(service()), 1)
    clock.advance(-20 * DAY)
    assert.equal((await api.get(path)).status, 200, 'the clock is set right')
    await sweep()
    clock.advance(12 * HOUR)
    const { payment_id: young } = await api.createPayment()
    clock.advance(8 * DAY - 9 * HOUR)
    await sweep() // the clock jumped: the hour begins again
    await pass(HOUR - 1)
    assert.equal(await payments(service()), 2)
    await pass(MINUTE + 1)
    clock.advance(-8 * DAY)
    assert.equal((await api.get(path)).status, 404)
    assert.equal((await api.get(`/v1/payments/${young}`)).status, 200)
    assert.deepEqual(lines, [
      "the machine's clock moved back by 20 days: nothing is deleted in the next hour",
      "the machine's clock moved forward by 8 days: nothing is deleted in the next hour",
    ])
  })

  test('The sweep deletes nothing while the clock differs by more than a minute from that of PostgreSQL, and says so once an hour', async () => {
    const api = await service().newAccount()
    const before = await payments(service())
    await api.createPayment()
    service().clock.advance(30 * DAY)
    let difference = 30 * DAY
    const { sweep, pass, lines } = startSweeping(async () => service().clock.now() - difference)
    await sweep()
    await pass(HOUR - 1)
    assert.equal(lines.length, 1)
    await pass(2 * MINUTE)
    assert.equal(await payments(service()), before + 1)
    assert.deepEqual(
      lines,
      Array(2).fill(
        "the machine's clock is 30 days ahead of PostgreSQL's: nothing is deleted until they agree within a minute",
      ),
    )
    difference = -MINUTE - 1
    await pass(HOUR + MINUTE)
    assert.equal(await payments(service()), before + 1)
    assert.match(lines.at(-1) ?? '', /60 seconds behind PostgreSQL's/)
    difference = MINUTE
    await sweep()
    assert.equal(await payments(service()), 0)
  })

  test('Old requests are deleted from the record only after the first hour, too', async () => {
    const { clock, database } = service()
    const { api } = await service().namedAccount()
    const exchanges = async () => {
      await Promise.all(service().apps.map(({ recorder }) => recorder?.flush()))
      return (await database.query('select exchange_id from exchanges')).length
    }
    await api.get('/v1/payments')
    const count = await exchanges()
    assert.notEqual(count, 0)
    clock.advance(2 * DAY)
    const { sweep, pass } = startSweeping(sameTime)
    await sweep()
    assert.equal(await exchanges(), count)
    await pass(HOUR)
    assert.equal(await exchanges(), 0)
  })
})
