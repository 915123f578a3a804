import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { deleteEndedRooms } from '../../../src/app/ended-rooms-store.ts'
import { testAccountName } from '../../../src/core/account.ts'
import { idFloor } from '../../../src/core/ids.ts'
import {
  type Body,
  type Client,
  createClient,
  sendUnchecked,
  webPayment,
} from '../../support/client.ts'
import { ask, asking, testAccount } from '../../support/control.ts'
import { paidPayment, read } from '../../support/journeys.ts'
import { onSharedDatabases, START } from '../../support/service.ts'
import { subscribe } from '../../support/subscriber.ts'
import { interleaving, mockQueries } from '../../support/watched.ts'

const MINUTE = 60_000

onSharedDatabases('Resets', { control: true, receives: true }, service => {
  const control = asking(service)
  const newAccount = async () => {
    const { name, api } = await service().namedAccount()
    const child = await testAccount(service(), api)
    return { ...child, room: testAccountName(name, child.account), parent: api }
  }

  type Made = Awaited<ReturnType<typeof newAccount>>

  test('a reset leaves the account with the same key, and without its record and its idempotency keys', async () => {
    const { api, account } = await newAccount()
    const create = () => api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
    await create()
    const { body } = await control(api, 'reset', { at: '2026-01-01T00:00:00Z' })
    assert.deepEqual([body.account, body.epoch], [account, 1])
    assert.deepEqual(body.clock, { now: '2026-01-01T00:00:00.000Z', frozen: true })
    // test/faults/reset-races.test.ts tests the payments, pages, refunds, webhooks and plans of the account.
    assert.deepEqual((await control(api, 'requests?operation=createPayment')).body.results, [])
    assert.equal((await create()).status, 201)
    const { body: running } = await control(api, 'reset', {})
    assert.equal(running.epoch, 2)
    assert.deepEqual(running.clock, { now: new Date(START).toISOString(), frozen: false })
  })

  test('a reset ends a wait early, without anything of the next epoch', async t => {
    const { database, baseUrls } = service()
    const other = await service().newAccount()
    const { api } = await newAccount()
    const rooms = new Set<unknown>()
    mockQueries(t, database, (query, values) => {
      if (values.includes('after')) rooms.add(values[0])
      return query()
    })
    const url = `${baseUrls[0]}/control/payments?reference=after&wait=10000`
    const wait = async (by: Client): Promise<Body> => (await sendUnchecked(url, by)).body
    const later = wait(other)
    const ended = wait(api)
    while (rooms.size < 2) await setTimeout(5)
    // Through the other instance, if there is one.
    const last = createClient(baseUrls.slice(-1), api.key ?? '')
    assert.equal((await control(last, 'reset', {})).status, 200)
    await api.createPayment({ reference: 'after' })
    const first = Promise.race([ended, later.then(() => 'the other wait was over')])
    assert.deepEqual(await first, { results: [] })
    await other.createPayment({ reference: 'after' })
    assert.equal((await later).results.length, 1)
  })

  const ends = {
    reset: ({ api }: Made) => control(api, 'reset', {}),
    end: ({ account, parent }: Made) =>
      ask(service(), parent, `accounts/${account}`, undefined, 'DELETE'),
  }
  for (const [what, end] of Object.entries(ends))
    test(`the ${what} of an account waits for the message that is being sent, and no later message is sent`, async t => {
      const made = await newAccount()
      const { api } = made
      let answered = 0
      const slow = await subscribe(t, api, {
        behaviour: {
          async onRequest({ response }) {
            await setTimeout(300)
            answered++
            response.end()
          },
        },
      })
      const first = await api.createPayment()
      const second = await api.createPayment()
      const cancel = ({ payment_id }: Body) => api.post(`/v1/payments/${payment_id}/cancel`)
      const cancels = [cancel(first), cancel(second)]
      await slow.next()
      assert.ok((await end(made)).status < 300)
      const arrived = slow.requests.length
      assert.equal(answered, arrived)
      const statuses = (await Promise.all(cancels)).map(({ status }) => status)
      // On a busy machine the other request can begin after the reset, where its payment or key is unknown.
      assert.ok(statuses.includes(204), String(statuses))
      for (const status of statuses) assert.ok([204, 401, 404].includes(status), String(statuses))
      assert.equal(slow.requests.length, arrived)
    })

  test('a webhook that a late request registers in the old room sends nothing', async t => {
    const { database, apps } = service()
    const { api, room } = await newAccount()
    const { webhook, requests } = await subscribe(t, api)
    await control(api, 'reset', {})
    const written = await database.write([
      {
        sql: `update webhooks set status = 'ACTIVE' where webhook_id = $1 and account = $2`,
        values: [webhook.external_id, room],
        expect: 1,
      },
      {
        sql: `insert into webhook_messages (message_id, webhook_id, payment_id, event_type, created, status,
                  attempts, claimed_until, body)
                values ('0', $1, $3, 'card_payment_failed', cast($2 as bigint), 'PENDING', '[]', cast($2 as bigint), '{}')`,
        values: [webhook.external_id, START, idFloor(START)],
      },
    ])
    assert.equal(written, true)
    await apps[0]?.deliveries.recover()
    assert.equal(requests.length, 0)
    const [message] = await database.query<{ status: string }>(
      `select status from webhook_messages where webhook_id = $1 and message_id = '0'`,
      [webhook.external_id],
    )
    assert.equal(message?.status, 'FAILED')
    const removal = { sql: `delete from webhook_messages where message_id = '0'`, values: [] }
    await database.write([removal])
  })

  test('a move of the clock, or a sending by hand, that began before a reset has no effect after it', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const reset = () => control(api, 'reset', {})
    const begun = (await control(api, '', undefined, 'GET')).body.clock
    beforeWrite(reset)
    assert.equal((await api.post('/control/clock', { advance: MINUTE })).status, 409)
    assert.deepEqual((await control(api, '', undefined, 'GET')).body.clock, begun)
    let act = async (): Promise<unknown> => undefined
    const hook = await subscribe(t, api, {
      behaviour: { onRequest: ({ response }) => void act().then(() => response.end()) },
    })
    const { payment_id } = await api.createPayment()
    await api.post(`/v1/payments/${payment_id}/cancel`)
    const [{ message_id }] = (await control(api, 'messages')).body.results
    act = reset
    const again = await control(api, `messages/${message_id}/send`, { times: 3 })
    assert.deepEqual([again.status, hook.requests.length], [409, 2])
  })

  test('two resets at once have an epoch each, and the old rows are deleted', async () => {
    const { database } = service()
    const { api, room } = await newAccount()
    await paidPayment(api)
    const resets = await Promise.all([control(api, 'reset', {}), control(api, 'reset', {})])
    assert.deepEqual(resets.map(({ body }) => body.epoch).sort(), [1, 2])
    const kept = await api.createPayment()
    const leftAt = async (ms: number) => {
      await deleteEndedRooms(database, START + ms)
      const [left] = await database.query<{ rows: number | string }>(
        'select count(*) as rows from payments where account = $1 or account like $2',
        [room, `${room}#%`],
      )
      return Number(left?.rows)
    }
    assert.equal(await leftAt(5 * MINUTE), 2, 'a request may still be writing')
    assert.equal(await leftAt(5 * MINUTE + 1), 1)
    await read(api, kept)
  })
})
