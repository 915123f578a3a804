import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { HELD_WAITS } from '../../../src/core/budgets.ts'
import { RECONNECT_TIME } from '../../../src/pay/webhooks/listener.ts'
import { listKeys, revokeKey } from '../../../src/platform/accounts/store.ts'
import { sweepListeners } from '../../../src/tools/deliver/listener-store.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { rowsOf, signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { history } from '../../support/subscriber.ts'
import { holdTimers } from '../../support/time.ts'
import { mockQueries } from '../../support/watched.ts'

const DAY = 24 * 60 * 60 * 1000

/** Requests of a listener. They alternate between the instances, as those of every client, beginning with the last. */
function listenerOf({ baseUrls }: Service, { key }: Client) {
  let requests = 0
  async function ask(method: string, path: string, body?: object, signal?: AbortSignal) {
    const response = await fetch(`${baseUrls.at(--requests % baseUrls.length)}/control/${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as Body) }
  }
  const start = async (name = "Anna's laptop", events?: string[]) =>
    (await ask('POST', 'listeners', { name, ...(events && { events }) })).body
  return { ask, start }
}

/** Listens for `count` attempts and returns the next of `statuses` to each. Resolves to the attempts. */
async function answering(
  { ask }: ReturnType<typeof listenerOf>,
  { webhook_id }: Body,
  statuses: number[],
): Promise<Body[]> {
  const attempts: Body[] = []
  for (const status_code of statuses) {
    const { body } = await ask('GET', `listeners/${webhook_id}/next`)
    attempts.push(body.attempt)
    const answer = Buffer.from(`said ${status_code}`).toString('base64')
    const { status } = await ask('POST', `listeners/${webhook_id}/results`, {
      attempt_id: body.attempt.attempt_id,
      status_code,
      response_time: 12,
      result: `${status_code} Words`,
      headers: [['X-From', 'laptop']],
      body: answer,
      size: 8,
    })
    assert.equal(status, 204)
  }
  return attempts
}

/** Waits until the listener is stored as connected for `ms` from now. */
async function untilListening({ database, clock }: Service, { webhook_id }: Body, ms: number) {
  const sql = 'select listening_until as until from webhooks where webhook_id = $1'
  const until = async () => (await database.query<{ until: number }>(sql, [webhook_id]))[0]?.until
  while ((await until()) !== clock.now() + ms) await setTimeout(5)
}

const cancelled = (api: Client) => cancelledPayment(api, { reference: 'È-7' })

onEveryDatabase('A listener', { control: true }, define)

function define(service: () => Service): void {
  test('a listener gets the bytes and the signature of each attempt, and the history has its responses', async () => {
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    assert.equal(webhook.other, false)
    await listener.ask('GET', `listeners/${webhook.webhook_id}/next?wait=0`)
    for (const statuses of [[200], [401, 202]]) {
      service().clock.advance(1)
      const attempts = answering(listener, webhook, statuses)
      const { payment_id } = await cancelled(api)
      const [message] = await history(api, { external_id: webhook.webhook_id })
      assert.equal(message.resource_id, payment_id)
      assert.equal(message.last_delivery_status, 'SUCCESSFUL')
      assert.deepEqual(
        message.attempts
          .toReversed()
          .map((each: Body) => [each.status_code, each.response_time, each.result]),
        statuses.map(status => [status, 12, `${status} Words`]),
      )
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
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const first = await listener.start('Anna’s Laptop!', ['card_payment_failed'])
    const { body: shown } = await api.get(`/v1/webhooks/${first.webhook_id}`)
    assert.deepEqual(
      [shown.callback_url, shown.description, shown.subscriptions, shown.status],
      [
        'https://anna-s-laptop.listen.farthing.invalid/',
        'anna-s-laptop',
        ['card_payment_failed'],
        'ACTIVE',
      ],
    )
    assert.deepEqual(await listener.start('anna-s-laptop'), { ...first, other: true })
    service().clock.advance(RECONNECT_TIME)
    assert.deepEqual(await listener.start('anna-s-laptop'), first)
    await api.delete(`/v1/webhooks/${first.webhook_id}`)
    assert.deepEqual(await listener.start('anna-s-laptop'), first)
    const { body: active } = await api.get(`/v1/webhooks/${first.webhook_id}`)
    assert.deepEqual([active.status, active.subscriptions.length], ['ACTIVE', 6])
    assert.notEqual((await listener.start('bob')).webhook_id, first.webhook_id)
    const refused = await api.post('/v1/webhooks', { callback_url: shown.callback_url })
    assert.equal(refused.status, 422)
  })

  test('a message to a listener that is not connected fails at once, without a second attempt, and counts nowhere as failed', async () => {
    const parent = await service().newAccount()
    const { body: child } = await ask(service(), parent, 'accounts', {})
    const api = createClient(service().baseUrls, child.key)
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    await listener.ask('DELETE', `listeners/${webhook.webhook_id}`)
    await cancelled(api)
    const [message] = await history(api, { external_id: webhook.webhook_id })
    assert.equal(message.last_delivery_status, 'FAILED')
    assert.deepEqual(
      message.attempts.map((each: Body) => [each.status_code, each.response_time, each.result]),
      [[null, null, 'nobody is listening']],
    )
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
    // Sent again by hand once a listener is connected.
    const attempts = answering(listener, webhook, [200])
    await listener.ask('GET', `listeners/${webhook.webhook_id}/next?wait=0`)
    const path = `messages/${message.webhook_message_id}/send`
    const { body } = await listener.ask('POST', path, {})
    assert.deepEqual(body.results[0].answer.body, 'said 200')
    assert.equal((await attempts)[0].message_id, message.webhook_message_id)
  })

  test('a listener still gets messages after one of its two commands has stopped', async () => {
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    const next = `listeners/${webhook.webhook_id}/next`
    const first = listener.ask('GET', next)
    await untilListening(service(), webhook, 35_000)
    await listener.ask('DELETE', `listeners/${webhook.webhook_id}`)
    assert.deepEqual((await first).body, { attempt: null })
    const attempts = answering(listener, webhook, [200])
    await untilListening(service(), webhook, 35_000)
    await cancelled(api)
    assert.equal((await attempts).length, 1)
  })

  test('a listener whose connection closes counts as connected for two seconds, in which it may ask another instance', async () => {
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    const closing = new AbortController()
    const look = listener.ask(
      'GET',
      `listeners/${webhook.webhook_id}/next`,
      undefined,
      closing.signal,
    )
    await untilListening(service(), webhook, 35_000)
    closing.abort()
    await assert.rejects(look)
    await untilListening(service(), webhook, 2_000)
    const payment = cancelled(api)
    await answering(listener, webhook, [200])
    await payment
    await untilListening(service(), webhook, 35_000)
  })

  test('a listener whose key is revoked is refused within a second', async () => {
    const { api, name } = await service().newNamedAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    const look = listener.ask('GET', `listeners/${webhook.webhook_id}/next`)
    const keys = await listKeys(service().database)
    const { key_id = '' } = keys.find(({ account }) => account === name) ?? {}
    await revokeKey(service().database, key_id, service().clock.now())
    assert.equal((await look).status, 401)
  })

  test('a listener learns of a reset within a second, and its webhook is gone', async t => {
    holdTimers(t, 20_000, 30_000) // its own wait
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    const path = `listeners/${webhook.webhook_id}/next`
    const next = listener.ask('GET', path)
    await untilListening(service(), webhook, 35_000)
    assert.equal((await ask(service(), api, 'reset', {})).status, 200)
    assert.deepEqual(await next, { status: 200, body: { attempt: null } })
    assert.equal((await listener.ask('GET', path)).status, 404)
  })

  test('a listener whose webhook is deleted learns of it within a second, and stays deactivated until it is started again', async t => {
    holdTimers(t, 20_000, 30_000) // its own wait
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    const path = `listeners/${webhook.webhook_id}/next`
    const look = listener.ask('GET', path)
    await untilListening(service(), webhook, 35_000)
    assert.equal((await api.delete(`/v1/webhooks/${webhook.webhook_id}`)).status, 204)
    assert.deepEqual(await look, { status: 200, body: { attempt: null } })
    const { status, body } = await listener.ask('GET', path)
    assert.deepEqual([status, body.code], [409, 'C0409'])
    await cancelled(api)
    assert.deepEqual(await history(api, { external_id: webhook.webhook_id }), [])
    assert.equal((await listener.start()).signing_key, webhook.signing_key)
    assert.equal((await listener.ask('GET', `${path}?wait=0`)).status, 200)
  })

  test('a request for an attempt gives its place back when the database fails', async t => {
    const api = await service().newAccount()
    const { webhook_id } = await listenerOf(service(), api).start()
    const { database, baseUrl, clock } = service()
    mockQueries(t, database, async (query, values) => {
      // A look for an attempt is one for this moment.
      if (values.includes(webhook_id) && values.includes(clock.now()))
        throw new Error('the database fails')
      return query()
    })
    const headers = { Authorization: `Bearer ${api.key}` }
    const ask = async () =>
      (await fetch(`${baseUrl}/control/listeners/${webhook_id}/next`, { headers })).status
    for (let asked = 0; asked <= HELD_WAITS; asked += 50)
      for (const status of await Promise.all(Array.from({ length: 50 }, ask)))
        assert.equal(status, 500)
  })

  test('the requests of listeners are checked, and only listeners may send them', async () => {
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const { webhook_id } = await listener.start()
    const { body: plain } = await api.post('/v1/webhooks', { callback_url: 'https://example.com/' })
    for (const id of [plain.external_id, 'unknown']) {
      const result = { attempt_id: 'x', status_code: null, result: 'timeout' }
      for (const [method, path, body] of [
        ['GET', 'next', undefined],
        ['POST', 'results', result],
        ['DELETE', '', undefined],
      ] as const) {
        const { status } = await listener.ask(method, `listeners/${id}${path && `/${path}`}`, body)
        assert.equal(status, 404, `${method} ${path}`)
      }
    }
    for (const [path, body, field] of [
      ['listeners', {}, 'name'],
      ['listeners', { name: '???' }, 'name'],
      ['listeners', { name: 'a', events: ['card_payment_lost'] }, 'events'],
      ['listeners', { name: 'a', port: 1 }, 'port'],
      [`listeners/${webhook_id}/results`, { status_code: 99, result: '' }, 'status_code'],
      [`listeners/${webhook_id}/results`, { status_code: 200, result: 'a\nb' }, 'result'],
      [
        `listeners/${webhook_id}/results`,
        { attempt_id: 'a\0b', status_code: 200, result: '' },
        'attempt_id',
      ],
      [`listeners/${webhook_id}/results`, { status_code: 200, result: 'x'.repeat(201) }, 'result'],
      [
        `listeners/${webhook_id}/results`,
        { attempt_id: 'x', status_code: null, result: 'broken' },
        'result',
      ],
      [
        `listeners/${webhook_id}/results`,
        { status_code: null, result: 'timeout', cause: 'a b' },
        'cause',
      ],
      [
        `listeners/${webhook_id}/results`,
        { status_code: 200, result: '', headers: [1] },
        'headers',
      ],
    ] as const) {
      const refused = await listener.ask('POST', path, body)
      assert.deepEqual([refused.status, refused.body.field], [422, field])
    }
    const longest = { attempt_id: 'unknown', status_code: 200, result: 'x'.repeat(200) }
    const { body } = await listener.ask('POST', `listeners/${webhook_id}/results`, longest)
    assert.notEqual(body.field, 'result')
  })

  test('a listener that nobody used for a day is deactivated, and is told to register again', async () => {
    const api = await service().newAccount()
    const listener = listenerOf(service(), api)
    const webhook = await listener.start()
    const { database, clock } = service()
    await sweepListeners(database, clock.now() + DAY)
    const status = async () => (await api.get(`/v1/webhooks/${webhook.webhook_id}`)).body.status
    assert.equal(await status(), 'ACTIVE')
    await sweepListeners(database, clock.now() + DAY + 3_000)
    assert.equal(await status(), 'INACTIVE')
    assert.equal((await listener.ask('GET', `listeners/${webhook.webhook_id}/next`)).status, 404)
  })
}
