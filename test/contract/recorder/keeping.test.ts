import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { testAccountName } from '../../../src/core/account.ts'
import { RECORD_ROWS, TEST_RECORD_ROWS, UNWRITTEN_BYTES } from '../../../src/core/budgets.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { DAY } from '../../../src/core/time.ts'
import { accountOfName, moveClock } from '../../../src/platform/accounts/store.ts'
import { LONGEST_HOLD } from '../../../src/tools/record/recorder.ts'
import { findExchanges } from '../../../src/tools/record/store.ts'
import { createClient } from '../../support/client.ts'
import { signIn } from '../../support/console.ts'
import { testAccount } from '../../support/control.ts'
import { damageLastPage } from '../../support/damaged-page.ts'
import { tempFolder } from '../../support/folders.ts'
import { createGate } from '../../support/gate.ts'
import { createLargePayments } from '../../support/large-payments.ts'
import { flush, insertKept, recorded } from '../../support/record.ts'
import {
  onEveryDatabase,
  onSharedDatabases,
  type Service,
  startService,
} from '../../support/service.ts'
import { holdTimers } from '../../support/time.ts'

async function sweep({ apps, time }: Service): Promise<void> {
  for (const { recorder } of apps) {
    await recorder?.trim()
    await recorder?.sweep(time.wall())
  }
}

async function kept(service: Service, room: string): Promise<string[]> {
  await flush(service)
  await sweep(service)
  return (await recorded(service, room)).map(({ operation }) => operation)
}

onEveryDatabase('The record', { control: true }, service => {
  test('The record is kept for 24 hours, to the millisecond', async () => {
    const { name, api } = await service().namedAccount()
    await api.get('/v1/agreements')
    await flush(service())
    service().clock.advance(1)
    await api.get('/v1/refunds')
    assert.deepEqual(await kept(service(), name), ['searchAgreements', 'searchRefunds'])
    service().clock.advance(DAY)
    assert.deepEqual(await kept(service(), name), ['searchRefunds'])
  })

  test('The record of a payment is deleted with the payment', async () => {
    const { name, api } = await service().namedAccount()
    const { payment_id } = await api.createPayment()
    await flush(service())
    service().clock.advance(7 * DAY - 1)
    await api.get(`/v1/payments/${payment_id}`)
    await flush(service())
    assert.deepEqual(await kept(service(), name), ['readPayment'])
    service().clock.advance(1)
    assert.deepEqual(await kept(service(), name), [])
  })

  test('The record has the payments of an account whose clock is far behind', async () => {
    const { name, api } = await service().namedAccount()
    const { database } = service()
    const account = await accountOfName(database, name)
    assert.ok(account)
    await moveClock(database, account, { ...account, clock_offset: -30 * DAY })
    await api.createPayment()
    assert.deepEqual(await kept(service(), name), ['createPayment'])
  })

  test('The record has the newest 10,000 exchanges of an account, and 1,000 of a test account', async () => {
    const { name, api: parent } = await service().namedAccount()
    const { account, api: child } = await testAccount(service(), parent)
    const { database, kind, time } = service()
    const accounts = [
      { room: name, api: parent, most: RECORD_ROWS },
      { room: testAccountName(name, account), api: child, most: TEST_RECORD_ROWS },
    ]
    // The statement that deletes is the same for both, and 1,000 rows show that PostgreSQL runs it.
    for (const { room, api, most } of kind === 'sqlite' ? accounts : accounts.slice(1)) {
      await api.get('/v1/agreements')
      await flush(service())
      const [newId, at] = [createNewId(), time.wall() + 1]
      const later = insertKept(room, at, { operation: 'later' })
      for (let written = 0; written < most + 200; written += 400)
        await database.write(Array.from({ length: 400 }, () => later(newId(at))))
      const operations = await kept(service(), room)
      assert.deepEqual([operations.length, new Set(operations)], [most, new Set(['later'])])
    }
  })

  test('The record of a body that is not UTF-8 has all of its bytes, also if it ends within a character', async () => {
    const { name, api } = await service().namedAccount()
    const bodies = ['"\xe2', '\xff', '"\xff"'].map(text => Buffer.from(text, 'latin1'))
    for (const body of bodies) {
      service().clock.advance(1)
      await api.request('POST', '/v1/payments', { body })
    }
    const found = (await recorded(service(), name)).map(({ request_body }) => request_body)
    const sent = bodies.map(body => ({ text: body.toString('base64'), base64: true }))
    assert.deepEqual(found, sent)
  })

  test('While the record cannot be written, lost exchanges are counted and nothing else is affected, and it continues later', async () => {
    const { name, api } = await service().namedAccount()
    const rename = (from: string, to: string) =>
      service().database.write([{ sql: `alter table ${from} rename to ${to}`, values: [] }])
    await rename('exchanges', 'exchanges_away')
    const lost = 5
    for (let i = 0; i < lost; i++) {
      const { payment_id } = await api.createPayment()
      assert.equal((await api.get(`/v1/payments/${payment_id}`)).status, 200)
    }
    await flush(service())
    await rename('exchanges_away', 'exchanges')
    await flush(service())
    await api.get('/v1/refunds')
    const found = await recorded(service(), name)
    const counted = found.reduce((all, { gap }) => all + (gap?.count ?? 0), 0)
    assert.equal(counted, 2 * lost)
    const [search, ...others] = found.filter(({ kind }) => kind !== 'gap')
    assert.deepEqual([search?.operation, others], ['searchRefunds', []])
  })
})

test('A stop writes the whole record', async () => {
  const path = join(tempFolder(), 'farthing.db')
  const service = await startService('sqlite', { env: { DATABASE_URL: `sqlite:${path}` } })
  const api = await service.newAccount()
  await Promise.all(Array.from({ length: 250 }, () => api.get('/v1/agreements')))
  await service.stop()
  const found = new DatabaseSync(path).prepare('select count(*) as found from exchanges').get()
  assert.equal(found?.found, 250)
})

test('While the record cannot be written it has 8 MB of rows in memory, whatever characters they are of, and what comes then is counted', async t => {
  const gate = createGate()
  const freeBytes = () => gate.wait().then(() => Infinity)
  const service = await startService('sqlite', {
    ports: ({ database }) => ({ database: { ...database, freeBytes } }),
  })
  t.after(() => service.stop())
  const { api, name } = await service.namedAccount()
  const [app] = service.apps
  gate.close()
  await api.createPayment()
  void app?.recorder?.write()
  while (gate.waiting() === 0) await setImmediate()
  // This call shares the write of the flush, which also takes the counts that may still grow.
  void app?.recorder?.write()
  // One row waits at the gate, and no timer begins another write.
  await createLargePayments(api, 600, '€')
  gate.open()
  const rows = await recorded(service, name)
  const bytes = Buffer.byteLength(JSON.stringify(rows))
  // Beside them the record has its first row. Until a row is made, the bytes of its exchange count.
  assert.ok(bytes > UNWRITTEN_BYTES && bytes < UNWRITTEN_BYTES * 1.25, `${bytes} bytes`)
  const bounds = rows.flatMap(({ gap }) => gap?.bounds ?? [])
  assert.deepEqual(bounds, ['memory'])
})

for (const name of ['exchanges', 'exchanges_by_account'])
  test(`Payments go on although ${name} is damaged in the file`, async () => {
    const path = join(tempFolder(), 'farthing.db')
    const lines: string[] = []
    const logger = pino({ level: 'warn' }, { write: line => void lines.push(line) })
    const key = 'key-of-the-default-account'
    const config = readConfig({ PORT: '0', DATABASE_URL: `sqlite:${path}`, FARTHING_API_KEY: key })
    const before = await startFarthing({ config, logger })
    const payments = await Promise.all(
      Array.from({ length: 20 }, () => createClient([before.url], key).createPayment()),
    )
    await before.close()
    damageLastPage(path, name)
    const farthing = await startFarthing({ config, logger })
    const api = createClient([farthing.url], key)
    for (let i = 0; i < 3; i++) {
      payments.push(await api.createPayment())
      await farthing.app.recorder?.flush()
    }
    // Reads of the same moment share a transaction, as those of a page do.
    const read = () =>
      findExchanges(farthing.ports.database, 'default', {}, { limit: 99, order: 'newest' })
    await Promise.allSettled([read(), read()])
    payments.push(await api.createPayment())
    for (const { payment_id } of payments)
      assert.equal((await api.get(`/v1/payments/${payment_id}`)).status, 200)
    assert.equal((await api.get('/readyz')).status, 200)
    await farthing.close()
    const failed = lines.filter(line => line.includes('requests could not be recorded'))
    assert.equal(failed.length, 1)
  })

onSharedDatabases('The record of a test account', { control: true }, service => {
  test('a client that has a response finds its request, at every instance and in the console', async t => {
    holdTimers(t, LONGEST_HOLD - 1, LONGEST_HOLD) // no response leaves before its row
    const { api } = await testAccount(service(), await service().newAccount())
    const Cookie = (await signIn(service(), api)).cookie ?? ''
    for (const base of service().baseUrls)
      for (const [url, headers] of [
        [`${base}/control/requests`, { Authorization: `Bearer ${api.key}` }],
        [`${base}/console/requests`, { Cookie }],
      ] as [string, Record<string, string>][]) {
        const { payment_id } = await api.createPayment()
        const found = await fetch(url, { headers })
        assert.ok((await found.text()).includes(payment_id), url)
      }
  })
})

test('On PostgreSQL a record that cannot be written delays a payment of a test account by a second at most', async t => {
  const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>()
  const service = await startService('postgres', {
    control: true,
    ports: ({ database }) => ({
      database: {
        ...database,
        async write(statements) {
          if (statements.some(({ ofRecord }) => ofRecord)) await unlocked
          return database.write(statements)
        },
      },
    }),
  })
  t.after(() => {
    unlock()
    return service.stop()
  })
  const { api } = await testAccount(service, await service.newAccount())
  const { payment_id } = await api.createPayment()
  unlock()
  const look = async () => (await api.get('/control/requests')).body.results[0]?.payment_id
  while ((await look()) !== payment_id) await setImmediate() // the other instance may answer before the write
})
