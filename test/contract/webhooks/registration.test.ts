import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const ALL = [
  'card_payment_succeeded',
  'card_payment_captured',
  'card_payment_refunded',
  'card_payment_failed',
  'card_payment_cancelled',
  'card_payment_settled',
]
const URL = 'https://hooks.example.com/farthing'

type Fault = [fields: Record<string, unknown>, code: 'P0101' | 'P0102', field: string]

const wrong = (field: string, code: Fault[1], ...values: unknown[]): Fault[] =>
  values.map(value => [{ [field]: value }, code, field])

const type = 'card_payment_failed'
const faults: Fault[] = [
  ...wrong('callback_url', 'P0101', undefined, null, '', ' \t\n'),
  ...wrong('callback_url', 'P0102', 1, true, [URL], { url: URL }, `${URL}\0`),
  ...wrong('callback_url', 'P0102', `${URL}?${'x'.repeat(2048)}`),
  ...wrong('description', 'P0102', 1, false, [], {}, 'a\0b', '\udc00'),
  ...wrong('description', 'P0102', 'x'.repeat(256), ' '.repeat(256)),
  ...wrong('subscriptions', 'P0102', 1, false, type, {}, [], [1], [null], [[type]]),
  ...wrong('subscriptions', 'P0102', [type.toUpperCase()], [...ALL, 'x']),
]

/** Requests with several errors each. The named error comes first in the order of checks. */
const order: Fault[] = [
  [{ callback_url: ' ', description: 1, subscriptions: [] }, 'P0101', 'callback_url'],
  [{ callback_url: 'https://10.0.0.1/', description: 1 }, 'P0102', 'callback_url'],
  [{ description: 1, subscriptions: [] }, 'P0102', 'description'],
]

async function register(api: Client, fields: Record<string, unknown> = {}): Promise<Body> {
  const answer = await api.post('/v1/webhooks', { callback_url: URL, ...fields })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

onSharedDatabases('Webhooks: registration', { control: true }, service => {
  test('POST /v1/webhooks registers a webhook, and GET returns the same body with the signing key', async () => {
    const api = await service().newAccount()
    const subscriptions = ['card_payment_captured', 'card_payment_refunded']
    const body = await register(api, { description: 'Ledger feed', subscriptions, nonsense: 1 })
    assert.match(body.external_id, /^[0-9a-v]{26}$/)
    assert.match(body.signing_key, /^webhook_test_[0-9a-v]{26}$/)
    assert.deepEqual(body, {
      external_id: body.external_id,
      callback_url: URL,
      description: 'Ledger feed',
      subscriptions,
      status: 'ACTIVE',
      created_date: new Date(await api.now()).toISOString(),
      signing_key: body.signing_key,
    })
    assert.deepEqual((await api.get(`/v1/webhooks/${body.external_id}`)).body, body)
  })

  test('subscriptions are all event types if absent or null, accept each, also the one never sent, and drop repeated ones', async () => {
    const api = await service().newAccount()
    for (const subscriptions of [undefined, null])
      assert.deepEqual((await register(api, { subscriptions })).subscriptions, ALL)
    for (const type of ALL)
      assert.deepEqual((await register(api, { subscriptions: [type] })).subscriptions, [type])
    const repeated = ['card_payment_failed', 'card_payment_captured', 'card_payment_failed']
    assert.deepEqual((await register(api, { subscriptions: repeated })).subscriptions, [
      'card_payment_failed',
      'card_payment_captured',
    ])
  })

  test('a description has up to 255 characters, and is left out when it is absent or null', async () => {
    const api = await service().newAccount()
    for (const description of ['x'.repeat(255), '', ' ', '<b>é😀"'])
      assert.equal((await register(api, { description })).description, description)
    for (const description of [undefined, null])
      assert.equal('description' in (await register(api, { description })), false)
  })

  test('a callback_url of up to 2,048 characters is kept as sent', async () => {
    const api = await service().newAccount()
    const longest = `${URL}?${'x'.repeat(2048 - URL.length - 1)}`
    assert.equal((await register(api, { callback_url: longest })).callback_url, longest)
    const odd = 'HTTPS://Hooks.Example.COM:443/a/../b?c=%2f#d'
    assert.equal((await register(api, { callback_url: odd })).callback_url, odd)
  })

  test('the list of webhooks has no signing keys, is newest first and includes deleted webhooks', async () => {
    const api = await service().newAccount()
    const made: Body[] = []
    for (let i = 0; i < 3; i++) {
      await api.advance(1)
      made.unshift(await register(api, { description: `${i}` }))
    }
    await api.delete(`/v1/webhooks/${made[1].external_id}`)
    const { body } = await api.get('/v1/webhooks')
    assert.deepEqual(
      body.results,
      made.map(({ signing_key, ...listed }, i) => ({
        ...listed,
        status: i === 1 ? 'INACTIVE' : 'ACTIVE',
      })),
    )
  })

  test('DELETE deactivates a webhook, returns 204 every time, and the webhook stays readable', async () => {
    const api = await service().newAccount()
    const webhook = await register(api)
    const path = `/v1/webhooks/${webhook.external_id}`
    for (let time = 0; time < 2; time++) {
      const answer = await api.delete(path)
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.deepEqual((await api.get(path)).body, { ...webhook, status: 'INACTIVE' })
      assert.equal((await api.get(`${path}/messages`)).status, 200)
    }
  })

  test('an account has at most 100 active webhooks, also when they are registered at once, and with listeners', async () => {
    const api = await service().newAccount()
    const other = await service().newAccount()
    const first = await register(api)
    for (let registered = 1; registered < 96; registered++) await register(api)
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => api.post('/v1/webhooks', { callback_url: URL })),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 8)
    for (const answer of refused) {
      assertError(answer, 422, 'P0102')
      assert.match(answer.body.description, /at most 100 active webhooks/)
    }
    const listen = async (name: string) => (await ask(service(), api, 'listeners', { name })).status
    assert.equal(await listen('laptop'), 422)
    await register(other)

    assert.equal((await api.delete(`/v1/webhooks/${first.external_id}`)).status, 204)
    assert.equal(await listen('laptop'), 200)
    assert.equal(await listen('laptop'), 200, 'it has its place')
    assertError(await api.post('/v1/webhooks', { callback_url: URL }), 422, 'P0102')
  })
})

onOneDatabase('Webhooks: refused registrations', service => {
  test('POST /v1/webhooks returns 422 with the first field that is wrong, and registers nothing', async () => {
    const api = await service().newAccount()
    for (const [fields, code, field] of [...faults, ...order]) {
      const answer = await api.post('/v1/webhooks', { callback_url: URL, ...fields })
      assertError(answer, 422, code, { field })
    }
    assert.equal((await api.get('/v1/webhooks')).body.total, 0)
  })
})
