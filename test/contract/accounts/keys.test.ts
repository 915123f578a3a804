import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { newAccount } from '../../../src/core/account.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { createTime } from '../../../src/core/time.ts'
import type { Context } from '../../../src/pay/context.ts'
import { createAuthenticate } from '../../../src/platform/accounts/bearer.ts'
import { createKey, findKey, listKeys, revokeKey } from '../../../src/platform/accounts/store.ts'
import { createClient } from '../../support/client.ts'
import { consoleOf, cookieIn } from '../../support/console.ts'
import { onEveryDatabase, startService } from '../../support/service.ts'
import { mockQueries } from '../../support/watched.ts'

onEveryDatabase('Accounts: API keys', service => {
  const newKey = (account: string) => {
    const { database, time } = service()
    return createKey({ database, time, newId: createNewId() }, account)
  }
  const statusWith = async (key: string) => {
    const headers = { Authorization: `Bearer ${key}` }
    return (await service().anonymous.get('/v1/payments', headers)).status
  }

  test('only the SHA-256 of an API key is stored', async () => {
    const { key, key_id } = await newKey('kept')
    const sql = 'select * from api_keys where key_id = $1'
    const rows = await service().database.query(sql, [key_id])
    const text = JSON.stringify(rows)
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(key))
    assert.ok(text.includes(Buffer.from(digest).toString('hex')))
    for (const part of [key, key.slice('api_test_'.length), key.slice(-20)])
      assert.ok(!text.includes(part))
  })

  test('an API key works at once, and stops working within a second after it was revoked', async () => {
    const { database, clock } = service()
    const { key, key_id } = await newKey('short-lived')
    const used = await newKey('short-lived')
    assert.equal(await statusWith(key), 200)
    assert.equal(await revokeKey(database, key_id, clock.now()), true)
    assert.equal(await revokeKey(database, used.key_id, clock.now()), true)
    clock.advance(999)
    for (let request = 0; request < 4; request++) {
      assert.equal(await statusWith(key), 401)
      assert.equal(await statusWith(used.key), 401)
    }
  })

  test('an API key that is revoked during its lookup stops working within a second too', async t => {
    const { baseUrl, clock, database } = service()
    const { key, key_id } = await newKey('slow')
    const api = createClient([baseUrl], key)
    const slow = mockQueries(t, database, async query => {
      const rows = await query()
      if (rows.some(row => (row as { name?: string }).name === 'slow')) clock.advance(800)
      return rows
    })
    assert.equal((await api.get('/v1/payments')).status, 200)
    slow.mock.restore()
    await revokeKey(database, key_id, clock.now() - 799)
    clock.advance(200)
    assert.equal((await api.get('/v1/payments')).status, 401)
  })

  test('a revoked API key does not work again when the clock is set back', async () => {
    const { clock, database, newAccount } = service()
    const hour = 3_600_000
    const { key, key_id } = await newKey('earlier')
    for (let instance = 0; instance < 2; instance++) assert.equal(await statusWith(key), 200)
    await revokeKey(database, key_id, clock.now())
    clock.advance(-hour)
    for (let instance = 0; instance < 2; instance++) assert.equal(await statusWith(key), 401)
    clock.advance(hour)
    for (let instance = 0; instance < 2; instance++) assert.equal(await statusWith(key), 401)
    assert.equal((await (await newAccount()).get('/v1/payments')).status, 200)
  })

  test('an API key belongs to its account and the configured key to the account default', async () => {
    const { database } = service()
    const { key } = await newKey('owner')
    const nameOf = async (sent: string, FARTHING_API_KEY = '') => {
      const { fixedKeys } = readConfig({ FARTHING_API_KEY })
      return (await findKey(database, sent, { fixedKeys, at: Date.now() }))?.account.name
    }
    assert.equal(await nameOf(key), 'owner')
    assert.equal(await nameOf(key, 'a-configured-key-1'), 'owner')
    assert.equal(await nameOf('a-configured-key-1', 'a-configured-key-1'), 'default')
    assert.equal(await nameOf('a-configured-key-', 'a-configured-key-1'), undefined)
    assert.equal(await nameOf('a-configured-key-1'), undefined)
  })
})

test('the cache of verified API keys holds a thousand, and forgets the one looked up longest ago', async () => {
  // The parts of the service that the lookup of a key uses.
  const database = { query: async () => [newAccount('many')] }
  const context = {
    database,
    time: createTime(() => 0),
    config: { fixedKeys: [] },
  } as unknown as Context
  const authenticate = createAuthenticate(context)
  const show = (key: number) => {
    const request = { headers: { authorization: `Bearer ${key}` } } as FastifyRequest
    return authenticate(request)
  }
  for (let key = 0; key < 1_000; key++) await show(key)
  assert.equal(show(0), undefined, 'in the cache')
  await show(1_000)
  assert.equal(show(1_000), undefined)
  assert.equal(show(1), undefined, 'the others stay')
  assert.notEqual(show(0), undefined, 'looked up again')
})

for (const kind of ['sqlite', 'postgres'] as const)
  test(`the keys of FARTHING_API_KEYS open accounts that the start makes, and end with the setting (${kind})`, async t => {
    const keys = { licensing: 'key-of-licensing-1', 'Council A': 'key-of-council-a-1' }
    const pairs = Object.entries(keys).map(pair => pair.join('='))
    const service = await startService(kind, {
      env: { FARTHING_API_KEYS: [...pairs, 'licensing=key-of-licensing-2'].join(', ') },
    })
    t.after(() => service.stop())
    const [first, council, second] = [keys.licensing, keys['Council A'], 'key-of-licensing-2'].map(
      key => createClient(service.baseUrls, key),
    )
    const { payment_id } = (await first?.createPayment()) ?? {}
    assert.equal((await second?.get(`/v1/payments/${payment_id}`))?.status, 200)
    assert.equal((await council?.get(`/v1/payments/${payment_id}`))?.status, 404)
    const browser = consoleOf(service)
    const entered = await browser.post('sign-in', { key: keys['Council A'] })
    assert.equal(entered.status, 303)
    const page = await consoleOf(service, cookieIn(entered)).get('payments')
    assert.ok(page.html.includes('<bdi>Council A</bdi>'))
    assert.deepEqual(await listKeys(service.database), [], 'no key of default is made')
    const fixedKeys = service.config.fixedKeys.slice(-1)
    const later = await startFarthing({ config: { ...service.config, fixedKeys } })
    t.after(() => later.close())
    const total = async (key: string) => {
      const { status, body } = await createClient([later.url], key).get('/v1/payments')
      return body.total ?? status
    }
    const totals = await Promise.all(['key-of-licensing-1', 'key-of-licensing-2'].map(total))
    assert.deepEqual(totals, [401, 0])
  })
