import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startFarthing } from '../../../src/app/start.ts'
import { paidPayment } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'

const DAY = 24 * 60 * 60 * 1000
/** For longer than a key is cached. */
const SECOND = 1_000

onEveryDatabase('The clock of an account', service => {
  const setClock = (name: string, clock: { clock_offset: number; frozen_at: number | null }) =>
    service().database.write([
      {
        sql: 'update accounts set clock_offset = $2, frozen_at = $3 where name = $1',
        values: [name, clock.clock_offset, clock.frozen_at],
        expect: 1,
      },
    ])

  test('a clock that stands still dates what the account makes, and moves no other account', async () => {
    const { api, name } = await service().newNamedAccount()
    const other = await service().newAccount()
    const at = Date.parse('2026-10-25T00:59:58.250Z')
    await setClock(name, { clock_offset: 0, frozen_at: at })
    service().clock.advance(SECOND)
    const { created_date } = await api.createPayment()
    assert.equal(created_date, '2026-10-25T00:59:58.250Z')
    service().clock.advance(SECOND)
    assert.equal((await api.createPayment()).created_date, created_date)
    const now = new Date(service().clock.now()).toISOString()
    assert.equal((await other.createPayment()).created_date, now)
  })

  test('a clock that is a week ahead has let payments expire, on the API and on the pages', async () => {
    const { api, name } = await service().newNamedAccount()
    const paid = await paidPayment(api)
    const open = await api.createPayment()
    await setClock(name, { clock_offset: 7 * DAY, frozen_at: null })
    service().clock.advance(SECOND)
    assert.equal((await api.get(`/v1/payments/${paid.payment_id}`)).status, 404)
    assert.equal((await api.get('/v1/payments')).body.total, 0)
    assert.equal((await api.get(open._links.next_url.href)).status, 404)
  })

  test('five seconds on it make a refund success', async () => {
    const { api, name } = await service().newNamedAccount()
    const { payment_id } = await paidPayment(api)
    const made = await api.post(`/v1/payments/${payment_id}/refunds`, { amount: 100 })
    const path = `/v1/payments/${payment_id}/refunds/${made.body.refund_id}`
    assert.equal((await api.get(path)).body.status, 'submitted')
    await setClock(name, { clock_offset: 5_000 - SECOND, frozen_at: null })
    service().clock.advance(SECOND)
    assert.equal((await api.get(path)).body.status, 'success')
  })
})

onEveryDatabase('Without FARTHING_CONTROL', service => {
  test('a start with an account whose clock was moved warns that the machine’s time holds', async () => {
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
    const [warning, ...more] = await warnings()
    assert.match(warning, /^1 account has a clock that was moved/)
    assert.deepEqual(more, [])
  })
})
