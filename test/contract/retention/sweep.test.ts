import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteEndedRooms } from '../../../src/app/ended-rooms-store.ts'
import type { Database, Statement } from '../../../src/core/ports.ts'
import { sweep } from '../../../src/pay/retention.ts'
import type { Body, Client } from '../../support/client.ts'
import { payOnPages } from '../../support/journeys.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { watched, watchedService } from '../../support/watched.ts'

const SEVEN_DAYS = 604_800_000
const DAY = 86_400_000
/** 2.33 hours in milliseconds: the payments of this time have one counter, and their rows go together. */
const TOGETHER = 8_388_608
/** A payment is gone after seven days, and its rows a day later. */
const DELETED = SEVEN_DAYS + DAY + TOGETHER
const TABLES = ['payments', 'refunds', 'idempotency_keys', 'webhook_messages']

async function countRows(database: Database, table: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select cast(count(*) as integer) as count from ${table}`,
  )
  return row?.count ?? 0
}

async function rows(database: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of TABLES) counts[table] = await countRows(database, table)
  const [bodies] = await database.query<{ count: number }>(
    'select cast(count(*) as integer) as count from webhook_messages where body is not null',
  )
  return { ...counts, bodies: bodies?.count ?? 0 }
}

async function makePayment(api: Client, refunds: number): Promise<Body> {
  const key = { 'Idempotency-Key': crypto.randomUUID() }
  const payment = await payOnPages(api, await api.createPayment({}, key))
  for (let i = 0; i < refunds; i++) await api.post(payment._links.refunds.href, { amount: 1 })
  return payment
}

/** All responses that an account can get without knowing an id. */
async function readAll(api: Client, webhook: string): Promise<string[]> {
  const paths = ['payments', 'refunds', 'agreements', 'webhooks', `webhooks/${webhook}/messages`]
  const answers = await Promise.all(paths.map(path => api.get(`/v1/${path}`)))
  return answers.map(answer => `${answer.status} ${answer.text}`)
}

/** An identifier from years before, with this end. It differs from every identifier of today. */
const older = (id: string, end: string): string => `00${id.slice(2, -end.length)}${end}`

/** Counts the rows that all writes delete from the table. One write may delete 200 at most. */
function countingDeleted(database: Database, table: string) {
  const counts: number[] = []
  const counting: Database = {
    ...database,
    async write(statements) {
      const before = await countRows(database, table)
      const written = await database.write(statements)
      counts.push(before - (await countRows(database, table)))
      assert.ok(Math.max(...counts) <= 200, counts.join())
      return written
    },
  }
  return { counting, deleted: () => counts.reduce((sum, count) => sum + count, 0) }
}

onEveryDatabase('Retention: sweep', service => {
  const newest = ({ clock }: Service) => clock.now()
  const clean = async () => {
    service().clock.advance(DELETED)
    await sweep(service().database, newest(service()))
  }

  test('a sweep deletes payments that have been gone for a day and what belongs to them, and changes no response', async () => {
    await clean()
    const { database, clock } = service()
    const api = await service().newAccount()
    const { body } = await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    await makePayment(api, 3)
    await makePayment(api, 2)
    clock.advance(TOGETHER)
    const kept = await makePayment(api, 1)
    const before = await rows(database)
    const numbers = [before.payments, before.refunds, before.idempotency_keys, before.bodies]
    assert.deepEqual(numbers, [3, 6, 3, 12])

    clock.advance(SEVEN_DAYS - TOGETHER - 1)
    const whole = await readAll(api, body.external_id)
    await sweep(database, clock.now())
    assert.deepEqual(await rows(database), before)
    assert.deepEqual(await readAll(api, body.external_id), whole)

    clock.advance(1)
    const shorter = await readAll(api, body.external_id)
    assert.notDeepEqual(shorter, whole)
    clock.advance(DAY - 1)
    await sweep(database, clock.now())
    assert.deepEqual(await rows(database), before)

    clock.advance(1 - DAY)
    assert.deepEqual(await readAll(api, body.external_id), shorter)
    assert.equal((await api.get(kept._links.self.href)).status, 200)
    await sweep(database, clock.now() + DELETED - SEVEN_DAYS)
    assert.deepEqual(await rows(database), {
      payments: 1,
      refunds: 1,
      idempotency_keys: 1,
      webhook_messages: before.webhook_messages,
      bodies: 3,
    })
    assert.deepEqual(await readAll(api, body.external_id), shorter)
    assert.equal((await api.get(kept._links.self.href)).status, 200)
  })

  test('a sweep deletes every refund of an expired payment, however many there are, and at most 200 in one write', async () => {
    await clean()
    const { database, clock } = service()
    const api = await service().newAccount()
    await makePayment(api, 1)
    const sql = `insert into refunds (refund_id, payment_id, account, amount)
      select $1, payment_id, account, 1 from payments`
    const more = Array.from({ length: 450 }, (_, i): Statement => ({ sql, values: [`${i}`] }))
    await database.write(more)
    clock.advance(DELETED)
    await sweep(countingDeleted(database, 'refunds').counting, clock.now())
    const left = await rows(database)
    assert.deepEqual([left.payments, left.refunds, left.idempotency_keys], [0, 0, 0])
  })

  test('a sweep deletes at most 200 payments in one write, so that it does not hold up others, and the next goes on where one was stopped', async () => {
    await clean()
    const { database, clock } = service()
    const api = await service().newAccount()
    await makePayment(api, 0)
    const [row] =
      await database.query<Record<string, string | number | null>>('select * from payments')
    assert.ok(row)
    const names = Object.keys(row)
    const copies = Array.from({ length: 1000 }, (_, i): Statement => {
      const payment_id = older(String(row.payment_id), String(i).padStart(4, '0'))
      const values = Object.values({ ...row, payment_id })
      const places = names.map((_, at) => `$${at + 1}`).join(', ')
      return { sql: `insert into payments (${names.join(', ')}) values (${places})`, values }
    })
    await database.write(copies)
    clock.advance(DELETED)
    const { counting, deleted } = countingDeleted(database, 'payments')
    const stop = new AbortController()
    const stopping: typeof database = {
      ...counting,
      write(statements) {
        stop.abort()
        return counting.write(statements)
      },
    }
    await sweep(stopping, clock.now(), stop.signal)
    await sweep(counting, clock.now())
    assert.equal(deleted(), 1001)
  })

  test('after a sweep by a clock that was ahead, totals and pages are those of the payments that are left', async () => {
    await clean()
    const { database, clock } = service()
    const api = await service().newAccount()
    for (let i = 0; i < 12; i++) {
      await api.createPayment()
      clock.advance(DAY / 48) // 30 minutes: a counter covers some two hours
    }
    for (let i = 0; i < 12; i++) {
      await sweep(database, clock.now() + DELETED - (11 - i) * (DAY / 48))
      const { body } = await api.get('/v1/payments?display_size=500')
      assert.equal(body.total, body.count, `${i}`)
      const left = await rows(database)
      assert.equal(body.total, left.payments, `${i}`)
      if (body.total > 1)
        assert.equal((await api.get('/v1/payments?display_size=1&page=2')).status, 200)
    }
  })

  test('a sweep with nothing to delete writes nothing', async () => {
    await clean()
    const { database, clock } = service()
    const done: string[] = []
    await sweep(
      watched(database, (_, kind) => done.push(kind)),
      clock.now(),
    )
    assert.ok(done.length > 0 && !done.includes('write'), done.join())
  })

  test('the rows of rooms that ended are deleted at most 200 in one write, which looks at some 100 rooms', async () => {
    const { database, clock } = service()
    const rooms = Array.from({ length: 450 }, (_, i) => [`room-${i}`, i])
    await database.write(
      rooms.flatMap(values =>
        [
          'insert into ended_rooms (room, account, since) values ($1, $1, $2)',
          `insert into payment_counts (account, bucket, payments) values ($1, '06g29a', $2)`,
        ].map(sql => ({ sql, values })),
      ),
    )
    const { counting, deleted } = countingDeleted(database, 'payment_counts')
    const looked: number[] = []
    const noting = watched(counting, ([step], kind) => {
      const [from, until] = step?.values ?? []
      if (kind === 'write' && until) looked.push(Math.min(450, Number(until)) - Number(from))
    })
    await deleteEndedRooms(noting, clock.now())
    assert.equal(deleted(), 450)
    assert.ok(Math.max(...looked) <= 101, looked.join())
  })

  test('a sweep takes no step for a test account that has ended while its clock stood still', async () => {
    await clean()
    const { database, clock } = service()
    const stepsOfSweep = async () => {
      const steps: Statement[] = []
      await sweep(
        watched(database, statements => steps.push(...statements)),
        clock.now(),
      )
      return steps.length
    }
    const before = await stepsOfSweep()
    await database.write([
      {
        sql: `insert into accounts (name, room, clock_offset, frozen_at, epoch, ended)
              values ('frozen', 'frozen#1', 0, $1, 1, 1)`,
        values: [clock.now()],
      },
    ])
    assert.equal(await stepsOfSweep(), before)
  })

  test('a sweep makes a message of an expired payment that was never delivered FAILED', async () => {
    await clean()
    const { database, clock } = service()
    const api = await service().newAccount()
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    const { payment_id } = await makePayment(api, 0)
    const pending = `update webhook_messages set status = 'PENDING', due_at = 0 where payment_id = $1`
    await database.write([{ sql: pending, values: [payment_id] }])
    clock.advance(DELETED)
    await sweep(database, clock.now())
    const sql = 'select status, due_at from webhook_messages where payment_id = $1'
    const left = await database.query(sql, [payment_id])
    assert.deepEqual(left, Array(2).fill({ status: 'FAILED', due_at: null }))
  })
})

test('a sweep finds the rows of payments by their identifiers, however many rows the account keeps', async t => {
  const { api, service, database, forget, assertPlans } = await watchedService(t)
  await makePayment(api, 1)
  service.clock.advance(DELETED)
  forget()
  await sweep(database, service.clock.now())
  await assertPlans(/ (refunds|idempotency_keys|webhook_messages) /, /(payment|message)_id=\?/, 6)
})
