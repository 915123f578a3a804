import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { HELD_WAITS, TURN_WAIT_MS } from '../../../src/core/budgets.ts'
import { DAY } from '../../../src/core/time.ts'
import { RECONNECT_TIME } from '../../../src/pay/webhooks/listener.ts'
import { listKeys, revokeKey } from '../../../src/platform/accounts/store.ts'
import { sweepListeners } from '../../../src/tools/deliver/listener-store.ts'
import { briefOf } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { rowsOf, signIn } from '../../support/console.ts'
import { ask, assertRefused, made, testAccount } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { history } from '../../support/subscriber.ts'
import { holdAttempts, holdTimers } from '../../support/time.ts'
import { mockQueries } from '../../support/watched.ts'

async function listening(service: Service, by?: Client) {
  const api = by ?? (await service.newAccount())
  const start = async (name = "Anna's laptop", events?: string[]): Promise<Body> =>
    made(ask(service, api, 'listeners', { name, events }))
  const webhook = await start()
  const path = `listeners/${webhook.webhook_id}`
  const next = (query = '') => ask(service, api, `${path}/next${query}`)
  return {
    api,
    start,
    webhook,
    path,
    next,
    connect: () => next('?wait=0'),
    leave: () => ask(service, api, path, undefined, 'DELETE'),
    history: () => history(api, { external_id: webhook.webhook_id }),
    /** Takes an attempt for each of these statuses, and answers with the status. Resolves to the attempts. */
    async answer(...statuses: number[]): Promise<Body[]> {
      const attempts: Body[] = []
      for (const status_code of statuses) {
        const { attempt } = (await next()).body
        attempts.push(attempt)
        const { status } = await ask(service, api, `${path}/results`, {
          attempt_id: attempt.attempt_id,
          status_code,
          response_time: 12,
          result: `${status_code} Words`,
          headers: [['X-From', 'laptop']],
          body: Buffer.from(`said ${status_code}`).toString('base64'),
          size: 8,
        })
        assert.equal(status, 204)
      }
      return attempts
    },
    /** Waits until the listener is stored as connected for `ms` from now. */
    async connectedFor(ms: number): Promise<void> {
      const { database, clock } = service
      const sql = 'select listening_until as until from webhooks where webhook_id = $1'
      const until = async () =>
        (await database.query<{ until: number }>(sql, [webhook.webhook_id]))[0]?.until
      while ((await until()) !== clock.now() + ms) await setTimeout(5)
    },
  }
}

/** A listener that waits is stored as connected for this time, in milliseconds. */
const WAITING = 35_000

const resultsOf = ({ attempts }: Body) =>
  attempts.map((each: Body) => [each.status_code, each.response_time, each.result])

const cancelled = (api: Client) => cancelledPayment(api, { reference: 'È-7' })

onEveryDatabase('A listener', { control: true }, service => {
  test('a listener gets the bytes and the signature of each attempt, and the history has its responses', async t => {
    holdAttempts(t)
    const { api, webhook, connect, answer, history } = await listening(service())
    assert.equal(webhook.other, false)
    await connect()
    for (const statuses of [[200], [401, 202]]) {
      service().clock.advance(1)
      const attempts = answer(...statuses)
      const { payment_id } = await cancelled(api)
      const [message] = await history()
      assert.equal(message.resource_id, payment_id)
      assert.equal(message.last_delivery_status, 'SUCCESSFUL')
      const answered = statuses.map(status => [status, 12, `${status} Words`])
      assert.deepEqual(resultsOf(message), answered.toReversed())
      for (const { headers, body, message_id } of await attempts) {
        assert.equal(JSON.parse(body).resource.reference, 'È-7')
        assert.equal(message_id, message.webhook_message_id)
        const signature = createHmac('sha256', webhook.signing_key).update(body).digest('hex')
        assert.equal(headers['Pay-Signature'], signature)
        assert.match(headers['User-Agent'], /^Farthing\//)
      }
    }
  })

  test('a listener keeps its webhook and its key with its name, and learns of another listener with that name', async () => {
    const { api, start } = await listening(service())
    const first = await start('Bob’s Laptop!', ['card_payment_failed'])
    const shown = async () => (await api.get(`/v1/webhooks/${first.webhook_id}`)).body
    const { callback_url, description, subscriptions } = await shown()
    assert.equal(callback_url, 'https://bob-s-laptop.listen.farthing.invalid/')
    assert.deepEqual([description, subscriptions], ['bob-s-laptop', ['card_payment_failed']])
    assert.deepEqual(await start('bob-s-laptop'), { ...first, other: true })
    service().clock.advance(RECONNECT_TIME)
    assert.deepEqual(await start('bob-s-laptop'), first)
    await api.delete(`/v1/webhooks/${first.webhook_id}`)
    assert.deepEqual(await start('bob-s-laptop'), first)
    const active = await shown()
    assert.deepEqual([active.status, active.subscriptions.length], ['ACTIVE', 6])
    assert.notEqual((await start('carol')).webhook_id, first.webhook_id)
    assert.equal((await api.post('/v1/webhooks', { callback_url })).status, 422)
  })

  test('a message to a listener that is not connected fails at once, without a second attempt, and counts nowhere as failed', async t => {
    holdAttempts(t)
    const parent = await service().newAccount()
    const child = await testAccount(service(), parent)
    const { api, connect, answer, leave, history } = await listening(service(), child.api)
    await leave()
    await cancelled(api)
    const [message] = await history()
    assert.equal(message.last_delivery_status, 'FAILED')
    assert.deepEqual(resultsOf(message), [[null, null, 'nobody is listening']])
    const browser = await signIn(service(), parent)
    const inside = (path: string) => browser.get(`a/${child.account}${path}`)
    const payments = await inside('/payments')
    assert.match(payments.text, /1 not listening/)
    assert.ok(!payments.elements.some(each => each.attributes.class?.includes('farthing-failed')))
    const shown = await inside(`/messages/${message.webhook_message_id}`)
    assert.match(shown.text, /card_payment_cancelled not listening/)
    assert.match((await inside('')).text, /Needs attention Nothing\./)
    assert.equal(rowsOf(await inside('/deliveries?status=FAILED')).length, 0)
    assert.equal(rowsOf(await inside('/deliveries?status=not listening')).length, 1)
    const [row] = rowsOf(await browser.get('accounts'))
    assert.equal(row?.[6], '0', 'failed messages')
    const { body: failed } = await ask(service(), api, 'messages?delivery=FAILED')
    assert.equal(failed.results.length, 1, 'to control it has failed, as to the API')
    // The message is sent again by hand once a listener is connected.
    const attempts = answer(200)
    await connect()
    const path = `messages/${message.webhook_message_id}/send`
    const { body } = await ask(service(), api, path, {})
    assert.deepEqual(body.results[0].answer.body, 'said 200')
    assert.equal((await attempts)[0].message_id, message.webhook_message_id)
  })

  test('a listener whose connection closes counts as connected for two seconds, in which it may ask another instance', async t => {
    holdAttempts(t)
    const { api, path, answer, connectedFor } = await listening(service())
    const closing = new AbortController()
    const look = fetch(`${service().baseUrls.at(-1)}/control/${path}/next`, {
      headers: { Authorization: `Bearer ${api.key}` },
      signal: closing.signal,
    })
    await connectedFor(WAITING)
    closing.abort()
    await assert.rejects(look)
    await connectedFor(2_000)
    const payment = cancelled(api)
    await answer(200)
    await payment
    await connectedFor(WAITING)
  })

  test('a listener whose key is revoked is refused within a second', async () => {
    const { api, name } = await service().namedAccount()
    const { next } = await listening(service(), api)
    const look = next()
    const keys = await listKeys(service().database)
    const { key_id = '' } = keys.find(({ account }) => account === name) ?? {}
    await revokeKey(service().database, key_id, service().clock.now())
    assert.equal((await look).status, 401)
  })

  test('a listener learns within a second that its webhook is deleted, which it is until a new start, or gone with a reset', async t => {
    holdTimers(t, 20_000, 30_000) // its own wait
    const { api, start, webhook, next, history, connectedFor } = await listening(service())
    const learns = async (what: () => Promise<{ status: number }>) => {
      service().clock.advance(WAITING) // so that connectedFor sees this request, not the one before
      const look = next()
      await connectedFor(WAITING)
      assert.ok((await what()).status < 300)
      assert.deepEqual(await look, { status: 200, body: { attempt: null } })
    }
    await learns(() => api.delete(`/v1/webhooks/${webhook.webhook_id}`))
    assert.equal(briefOf(await next()), '409 C0409')
    await cancelled(api)
    assert.deepEqual(await history(), [])
    assert.equal((await start()).signing_key, webhook.signing_key)
    await learns(() => ask(service(), api, 'reset', {}))
    assert.equal((await next()).status, 404)
  })

  test('a request for an attempt gives its place back when the database fails', async t => {
    holdTimers(t, 4_999, TURN_WAIT_MS) // nor may the wait for a connection of PostgreSQL end
    const { database, clock, baseUrl } = service()
    const { webhook, next } = await listening({ ...service(), baseUrls: [baseUrl] })
    mockQueries(t, database, async (query, values) => {
      // Only a look for an attempt has this moment among its values.
      if (values.includes(webhook.webhook_id) && values.includes(clock.now()))
        throw new Error('the database fails')
      return query()
    })
    for (let asked = 0; asked <= HELD_WAITS; asked += 50)
      for (const { status } of await Promise.all(Array.from({ length: 50 }, () => next())))
        assert.equal(status, 500)
  })

  test('the requests of listeners are checked, and only listeners may send them', async () => {
    const { api, path } = await listening(service())
    const { body: plain } = await api.post('/v1/webhooks', { callback_url: 'https://example.com/' })
    const result = { attempt_id: 'x', status_code: null, result: 'timeout' }
    for (const id of [plain.external_id, 'unknown'])
      for (const [method, path, body] of [
        ['GET', '/next', undefined],
        ['POST', '/results', result],
        ['DELETE', '', undefined],
      ] as const) {
        const { status } = await ask(service(), api, `listeners/${id}${path}`, body, method)
        assert.equal(status, 404, `${method} ${path}`)
      }
    await assertRefused(service(), api, 'listeners', [
      [{}, 'name', 'C0101'],
      [{ name: '???' }, 'name'],
      [{ name: 'a', events: ['card_payment_lost'] }, 'events'],
    ])
    const answered = { status_code: 200, result: '' }
    await assertRefused(service(), api, `${path}/results`, [
      [{ status_code: 99, result: '' }, 'status_code'],
      [{ ...answered, result: 'a\nb' }, 'result'],
      [{ ...answered, attempt_id: 'a\0b' }, 'attempt_id'],
      [{ ...answered, result: 'x'.repeat(201) }, 'result'],
      [{ ...result, result: 'broken' }, 'result'],
      [{ ...result, cause: 'a b' }, 'cause'],
      [{ ...answered, headers: [1] }, 'headers'],
    ])
    const longest = { attempt_id: 'unknown', status_code: 200, result: 'x'.repeat(200) }
    const { body } = await ask(service(), api, `${path}/results`, longest)
    assert.notEqual(body.field, 'result')
  })

  test('a listener that nobody used for a day is deactivated, and is told to register again', async () => {
    const { api, webhook, next } = await listening(service())
    const { database, clock } = service()
    await sweepListeners(database, clock.now() + DAY)
    const status = async () => (await api.get(`/v1/webhooks/${webhook.webhook_id}`)).body.status
    assert.equal(await status(), 'ACTIVE')
    await sweepListeners(database, clock.now() + DAY + 3_000)
    assert.equal(await status(), 'INACTIVE')
    assert.equal((await next()).status, 404)
  })
})
