import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  ACCOUNT_RECORD_BYTES,
  ADDRESS_PART_BYTES,
  HEADER_VALUE_BYTES,
  HEADERS_BYTES,
  LIST_PAGE_BYTES,
  RECORD_LEAVES_BYTES,
  RECORD_ROW_BYTES,
  RECORDED_BODY_BYTES,
  REFUSALS_AT_ONCE,
} from '../../../src/core/budgets.ts'
import { createNewId } from '../../../src/core/ids.ts'
import type { Database } from '../../../src/core/ports.ts'
import { BYTES, findExchanges, insertExchange } from '../../../src/tools/record/store.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { flush, insertKept, recorded } from '../../support/record.ts'
import {
  databaseKinds,
  onEveryDatabase,
  onOneDatabase,
  onSharedDatabases,
  START,
  startService,
} from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'

async function sizeOf(database: Database, room?: string) {
  const [size] = await database.query<{ rows: number; bytes: number }>(
    `select count(*) as rows, sum(${BYTES}) as bytes from exchanges ${room ? 'where account = $1' : ''}`,
    room ? [room] : [],
  )
  return { rows: Number(size?.rows), bytes: Number(size?.bytes) }
}

const oldest = { limit: 20_000, order: 'oldest' } as const

/** As much text as is kept of two bodies. */
const LARGE = 'v'.repeat(8_000)

const newId = createNewId()

/** Writes rows of the room at this time of the machine, in milliseconds. */
async function fill(database: Database, room: string, bytes: number, at: number): Promise<void> {
  const bodies = { request_body: { text: LARGE }, response_body: { text: LARGE } }
  const insert = insertKept(room, at, bodies)
  for (let left = Math.ceil(bytes / (2 * LARGE.length)); left > 0; left -= 100)
    await database.write(Array.from({ length: 100 }, () => insert(newId(at))))
}

onOneDatabase('What is kept of an exchange', { ...receiving, control: true }, service => {
  /** The recorded response to a message that was sent by hand. */
  async function sentByHand(t: TestContext, api: Client, room: string, respond: Respond) {
    const { webhook } = await subscribe(t, api, {
      subscriptions: ['card_payment_cancelled'],
      behaviour: { plain: true, onRequest: ({ response }) => respond(response) },
    })
    const { payment_id } = await api.createPayment()
    await api.post(`/v1/payments/${payment_id}/cancel`)
    const { body } = await ask(service(), api, 'messages')
    const sent = body.results.find(({ webhook_id }: Body) => webhook_id === webhook.external_id)
    await ask(service(), api, `messages/${sent.message_id}/send`, {})
    return (await recorded(service(), room)).find(({ by_hand }) => by_hand)
  }
  type Respond = (response: import('node:http').ServerResponse) => unknown

  test('headers have 1 KB each and 16 KB together, and a row 32 KB, whatever a receiver answers', async t => {
    const mark = Buffer.byteLength('…')
    // Quotes and control characters are longer in JSON, so the second row is cut again.
    for (const [letter, body] of [['é ', ''] as const, ['"', '\u0001'] as const]) {
      const { name, api } = await service().namedAccount()
      const sent = await sentByHand(t, api, name, response => {
        for (let i = 0; i < 20; i++) response.setHeader(`Long-${i}`, letter.repeat(1_200))
        response.end(body.repeat(RECORDED_BODY_BYTES))
      })
      assert.ok(sent)
      const values = Object.entries(sent.response_headers)
      const sizes = values.map(([, value]) => Buffer.byteLength(value))
      assert.ok(Math.max(...sizes) <= HEADER_VALUE_BYTES + mark, `${Math.max(...sizes)}`)
      const together = Buffer.byteLength(values.flat().join(''))
      assert.ok(together <= HEADERS_BYTES + mark, `${together}`)
      const { exchange_id, ...row } = sent
      const [, ...stored] = insertExchange(row)(exchange_id).values
      assert.ok(Buffer.byteLength(stored.join('')) <= RECORD_ROW_BYTES + 256)
      assert.equal(sent.response_body?.cut, body ? RECORDED_BODY_BYTES : undefined)
    }
  })

  test('a path and a query have 2 KB each', async () => {
    const { name, api } = await service().namedAccount()
    await api.get(`/v1/payments/${'p'.repeat(5_000)}?a=${'q'.repeat(5_000)}`)
    const [found] = await recorded(service(), name)
    const most = ADDRESS_PART_BYTES + Buffer.byteLength('…')
    for (const part of [found?.path, found?.query])
      assert.equal(Buffer.byteLength(part ?? ''), most)
  })

  test('what a receiver and a client call a secret is masked, by the name of a header, in JSON, a form, a query and an address within them', async t => {
    const { name, api } = await service().namedAccount()
    const secret = (i: number) => `hidden${i}`
    const sent = await sentByHand(t, api, name, response => {
      response.setHeader('Set-Cookie', `a=${secret(1)}`)
      response.setHeader('Proxy-Authorization', secret(2))
      response.setHeader('Acme-Api-Key', secret(3))
      response.setHeader('X-Auth-Token', secret(4))
      response.setHeader('Location', `https://a.example/?token=${secret(5)}&b=shown1`)
      response.end(
        JSON.stringify({
          password: secret(6),
          client_secret: [secret(7), { deep: secret(8) }],
          card: { cvc: secret(14), CVV: secret(15), securityCode: secret(16) },
          log: JSON.stringify({ api_key: secret(9), b: 'shown2' }),
          link: `https://a.example/?b=shown3&access_token=${secret(10)}`,
        }),
      )
    })
    await api.request('POST', `/v1/payments?api_key=${secret(11)}&b=shown4`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `password=${secret(12)}&b=shown5&next=https%3A%2F%2Fa.example%3Ftoken%3D${secret(13)}`,
    })
    const found = await recorded(service(), name, { kinds: ['api'] })
    const kept = JSON.stringify([sent, found])
    assert.deepEqual(kept.match(/hidden\d+/g), null)
    for (let i = 1; i <= 4; i++) assert.ok(kept.includes(`shown${i}`), `shown${i}`)
  })

  test('a message that is sent by hand is recorded within the limits, and its sender gets the answer in any case', async t => {
    const { name, api } = await service().namedAccount()
    const sent = await sentByHand(t, api, name, response => {
      response.statusCode = 400
      response.end('refused')
    })
    assert.ok(sent)
    // The record takes this burst of refusals, and no more while the clock stands still.
    for (let i = 0; i < 51; i++) {
      const path = `messages/${sent.message_id}/send`
      const { body } = await ask(service(), api, path, { times: 10 })
      for (const { answer } of body.results) assert.equal(answer.body, 'refused')
    }
    const found = await recorded(service(), name)
    assert.equal(found.filter(({ kind }) => kind === 'out').length, REFUSALS_AT_ONCE)
    assert.ok(found.some(({ gap }) => gap?.bounds.includes('account')))
  })
})

onEveryDatabase('The bytes of the record', { env: { FARTHING_RECORD_MAX: '33' } }, service => {
  test('all accounts have FARTHING_RECORD_MAX, and one has 32 MB: the oldest rows go first', async () => {
    const { database, apps, clock } = service()
    const [one, other] = [await service().namedAccount(), await service().namedAccount()]
    async function request(api: Client, path: string): Promise<void> {
      clock.advance(1_000)
      await api.get(path)
      await flush(service())
    }
    const trim = async () => {
      for (const { recorder } of apps) await recorder?.trim()
    }
    const found = async (room: string, order: 'oldest' | 'newest') =>
      (await findExchanges(database, room, {}, { limit: 1, order }))[0]
    await request(one.api, '/v1/agreements')
    await request(other.api, '/v1/agreements')
    await fill(database, one.name, 10_000_000, clock.now())
    await fill(database, other.name, 26_000_000, clock.now() + 1)
    const before = await sizeOf(database, one.name)
    await trim()
    const all = await sizeOf(database)
    assert.ok(all.bytes <= 33 * 1024 ** 2 && all.bytes > 28_000_000, `${all.bytes}`)
    const left = await sizeOf(database, one.name)
    assert.ok(left.rows < before.rows, `${left.rows}`)
    assert.ok((await found(one.name, 'oldest'))?.request_body, 'the first has none')
    assert.ok((await sizeOf(database, other.name)).rows >= 1_700, 'all that were filled in')
    await fill(database, other.name, 8_000_000, clock.now() + 2)
    await request(other.api, '/v1/disputes')
    await trim()
    const { bytes } = await sizeOf(database, other.name)
    assert.ok(bytes <= ACCOUNT_RECORD_BYTES && bytes > ACCOUNT_RECORD_BYTES / 2, `${bytes}`)
    assert.equal((await found(other.name, 'newest'))?.operation, 'searchDisputes')
  })
})

/** Makes the database fail as on a full disk: SQLite by its limit of pages, PostgreSQL by the server's error code. */
async function fillDisk(kind: string, database: Database): Promise<void> {
  const run = (sql: string) => database.write([{ sql, values: [] }])
  if (kind === 'sqlite') {
    const [pages] = await database.query<{ page_count: number }>('pragma page_count')
    await run(`pragma max_page_count = ${pages?.page_count}`)
    return
  }
  await run(`create or replace function refuse() returns trigger language plpgsql as
    'begin if exists (select from exchanges) then raise exception ''no space left'' using errcode = ''53100''; end if; return new; end'`)
  await run(
    'create or replace trigger full_disk before insert on payments for each row execute function refuse()',
  )
}

for (const kind of databaseKinds)
  test(`Each time the disk is full, the record gives way: no payment is refused, and it pauses (${kind})`, async t => {
    const service = await startService(kind)
    t.after(() => service.stop())
    const { database } = service
    const { api, name } = await service.namedAccount()
    for (const total of [50, 100]) {
      if (kind === 'sqlite')
        await database.write([{ sql: 'pragma max_page_count = 1000000', values: [] }])
      // On SQLite more bytes than one deletion takes, which makes room enough. On PostgreSQL everything is deleted.
      await fill(database, name, kind === 'sqlite' ? 18_000_000 : 6_000_000, START)
      await fillDisk(kind, database)
      const metadata = { text: 'x'.repeat(90) }
      await Promise.all(Array.from({ length: 50 }, () => api.createPayment({ metadata })))
      assert.equal((await api.get('/v1/payments')).body.total, total)
      assert.ok((await sizeOf(database)).bytes < 5_000_000)
    }
    await flush(service)
    await api.get('/v1/refunds')
    const found = await recorded(service, name)
    assert.ok(!found.some(({ operation }) => operation === 'searchRefunds'))
    assert.ok(found.some(({ gap }) => gap?.bounds.includes('database')))
  })

// On PostgreSQL the service does not know how much room the volume has.
test('The record writes nothing while the volume of an SQLite file has less than 64 MB, and deletes its oldest rows for that', async t => {
  let room = Infinity
  const service = await startService('sqlite', {
    ports: ({ database }) => ({ database: { ...database, freeBytes: async () => room } }),
  })
  t.after(() => service.stop())
  const { database } = service
  const { api, name } = await service.namedAccount()
  await fill(database, name, 20_000_000, START)
  room = RECORD_LEAVES_BYTES - 1_000_000
  await api.get('/v1/refunds')
  await flush(service)
  const { bytes } = await sizeOf(database)
  assert.ok(bytes < 5_000_000, `${bytes}`)
  room = 0
  await api.get('/v1/disputes')
  assert.deepEqual(await recorded(service, name), [])
})

onSharedDatabases('A list of control', { control: true }, service => {
  test('a page ends at 1 MB, and the cursors lead to the rest in both directions', async () => {
    const { name, api } = await service().namedAccount()
    await api.get('/v1/agreements')
    const list = async (query: string): Promise<Body> =>
      (await ask(service(), api, `requests?${query}`)).body
    const { next } = await list('')
    await fill(service().database, name, 3_000_000, START + 1)
    const all = await findExchanges(service().database, name, {}, oldest)
    /** All pages from a query on. The cursor that `lead` takes from a page leads to the next. */
    const pages = async (query: string, lead: (page: Body) => string): Promise<string[][]> => {
      const page = await list(query)
      if (page.results.length === 0) return []
      assert.ok(JSON.stringify(page).length <= LIST_PAGE_BYTES)
      const ids: string[] = page.results.map(({ request_id }: Body) => request_id)
      return [ids, ...(await pages(lead(page), lead))]
    }
    const ids = all.map(({ exchange_id }) => exchange_id)
    const forward = await pages(`after=${next}`, page => `after=${page.next}`)
    assert.deepEqual(forward.flat(), ids.slice(1))
    const back = await pages('', page => `before=${page.previous}`)
    assert.deepEqual(back.toReversed().flat(), ids)
  })
})
