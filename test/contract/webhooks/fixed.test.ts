import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { type Body, createClient } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { openMessage } from '../../support/subscriber.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'
const FARTHING_WEBHOOK_URL = 'http://localhost:9/hook'
const FARTHING_SIGNING_KEY = 'signing key of our own, ü'

/** Starts the service. Its log is kept in `lines`, and it stops after the test at the latest. */
async function start(t: TestContext, env: Record<string, string>) {
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const fixed = { FARTHING_API_KEY, FARTHING_WEBHOOK_URL, FARTHING_SIGNING_KEY }
  const config = readConfig({ PORT: '0', ...fixed, ...env })
  const farthing = await startFarthing({ config, logger })
  t.after(() => farthing.close())
  const api = createClient([farthing.url], FARTHING_API_KEY)
  return {
    close: () => farthing.close(),
    api,
    lines,
    warnings: () =>
      lines.flatMap((line): string[] =>
        JSON.parse(line).level === 40 ? [JSON.parse(line).msg] : [],
      ),
    /** Oldest first, with their signing keys. */
    async webhooks(): Promise<Body[]> {
      const { results } = (await api.get('/v1/webhooks')).body
      const ids: string[] = results.map(({ external_id }: Body) => external_id).reverse()
      return Promise.all(ids.map(async id => (await api.get(`/v1/webhooks/${id}`)).body))
    },
  }
}

for (const [kind, newDatabase] of Object.entries({
  SQLite: async () => tempDatabase(),
  PostgreSQL: createPostgresDatabase,
}))
  describe(`The webhook of FARTHING_WEBHOOK_URL on ${kind}`, () => {
    test('The fixed webhook is found again at the next start, and gets that start’s signing key', async t => {
      const DATABASE_URL = await newDatabase()
      const first = await start(t, { DATABASE_URL })
      const [webhook, ...more] = await first.webhooks()
      assert.deepEqual(more, [])
      assert.equal(webhook?.callback_url, FARTHING_WEBHOOK_URL)
      assert.equal(webhook?.signing_key, FARTHING_SIGNING_KEY)
      assert.equal(webhook?.status, 'ACTIVE')
      assert.equal(webhook?.subscriptions.length, 6)
      await first.close()

      const second = await start(t, { DATABASE_URL })
      assert.deepEqual(await second.webhooks(), [webhook])
      await second.close()

      const signing_key = 'another signing key'
      const third = await start(t, { DATABASE_URL, FARTHING_SIGNING_KEY: signing_key })
      assert.deepEqual(await third.webhooks(), [{ ...webhook, signing_key }])
      assert.deepEqual(third.warnings(), [])
    })

    test('If the address changes, the webhook with the old one is deactivated', async t => {
      const DATABASE_URL = await newDatabase()
      const first = await start(t, { DATABASE_URL })
      await first.close()
      const other = 'http://localhost:9/other'
      const second = await start(t, { DATABASE_URL, FARTHING_WEBHOOK_URL: other })
      const webhooks = await second.webhooks()
      assert.deepEqual(
        webhooks.map(({ callback_url, status }) => [callback_url, status]),
        [
          [FARTHING_WEBHOOK_URL, 'INACTIVE'],
          [other, 'ACTIVE'],
        ],
      )
    })

    test('A registration of the same address through the API is another webhook, and is warned of', async t => {
      const DATABASE_URL = await newDatabase()
      const first = await start(t, { DATABASE_URL })
      const [fixed] = await first.webhooks()
      const { status, body } = await first.api.post('/v1/webhooks', {
        callback_url: FARTHING_WEBHOOK_URL,
      })
      assert.equal(status, 201)
      const [warning = '', ...more] = first.warnings()
      assert.deepEqual(more, [])
      assert.match(warning, /the receiver at localhost:9 gets messages several times/)
      assert.ok(warning.includes(String(fixed?.external_id)))
      await first.close()

      const second = await start(t, { DATABASE_URL })
      assert.deepEqual(await second.webhooks(), [fixed, body])
      assert.match(String(second.warnings()), new RegExp(`${body.external_id}`))
      const unlike = { callback_url: 'http://localhost:9/unlike' }
      assert.equal((await second.api.post('/v1/webhooks', unlike)).status, 201)
      assert.equal(second.warnings().length, 1)
    })
  })

test('Instances on PostgreSQL that start together have one fixed webhook', async t => {
  const DATABASE_URL = await createPostgresDatabase()
  const instances = await Promise.all([1, 2, 3, 4].map(() => start(t, { DATABASE_URL })))
  const webhooks = (await instances[0]?.webhooks()) ?? []
  assert.equal(webhooks.filter(({ status }) => status === 'ACTIVE').length, 1)
})

test('In memory the fixed webhook receives messages with the signature of its key, which no log line has', async t => {
  const receiver = await startReceiver({ plain: true })
  t.after(() => receiver.close())
  const env = { DATABASE_URL: 'sqlite::memory:', FARTHING_WEBHOOK_URL: receiver.url }
  const { api, lines } = await start(t, env)
  const { payment_id } = await api.createPayment()
  await api.post(`/v1/payments/${payment_id}/cancel`)
  const [message] = await receiver.next()
  assert.ok(message)
  const body = openMessage(message, { signing_key: FARTHING_SIGNING_KEY })
  assert.equal(body.resource_id, payment_id)
  assert.match(lines.join(''), /card_payment_cancelled to localhost/)
  assert.ok(!lines.join('').includes(FARTHING_SIGNING_KEY))
})
