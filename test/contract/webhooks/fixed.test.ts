import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { SECOND } from '../../../src/core/time.ts'
import { eventTypesOf } from '../../../src/pay/webhooks/webhook.ts'
import { type Body, createClient } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { tempDatabase } from '../../support/folders.ts'
import { attemptsAt, recordRows } from '../../support/integration.ts'
import { copyMigratedDatabase } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { SLOW } from '../../support/receivers.ts'
import { answering, openMessage } from '../../support/subscriber.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'
const FARTHING_WEBHOOK_URL = 'http://localhost:9/hook'
const FARTHING_SIGNING_KEY = 'signing key of our own, ü'

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
    apps: [farthing.app],
    baseUrls: [farthing.url],
    database: farthing.ports.database,
    lines,
    warnings: () =>
      lines.flatMap((line): string[] =>
        JSON.parse(line).level === 40 ? [JSON.parse(line).msg] : [],
      ),
    /** From the oldest to the newest, with their signing keys. */
    async webhooks(): Promise<Body[]> {
      const { results } = (await api.get('/v1/webhooks')).body
      const ids: string[] = results.map(({ external_id }: Body) => external_id).reverse()
      return Promise.all(ids.map(async id => (await api.get(`/v1/webhooks/${id}`)).body))
    },
  }
}

type Started = Awaited<ReturnType<typeof start>>

for (const [kind, newDatabase] of Object.entries({
  SQLite: async () => tempDatabase(),
  PostgreSQL: copyMigratedDatabase,
}))
  describe(`The webhook of FARTHING_WEBHOOK_URL on ${kind}`, () => {
    test('The fixed webhook is found again at the next start, gets that start’s signing key, and is deactivated if the address changes', async t => {
      const DATABASE_URL = await newDatabase()
      const first = await start(t, { DATABASE_URL })
      const [webhook, ...more] = await first.webhooks()
      assert.deepEqual(more, [])
      assert.equal(webhook?.callback_url, FARTHING_WEBHOOK_URL)
      assert.equal(webhook?.signing_key, FARTHING_SIGNING_KEY)
      assert.equal(webhook?.status, 'ACTIVE')
      assert.deepEqual(webhook?.subscriptions, eventTypesOf.specification)
      await first.close()

      const second = await start(t, { DATABASE_URL })
      assert.deepEqual(await second.webhooks(), [webhook])
      await second.close()

      const signing_key = 'another signing key'
      const third = await start(t, { DATABASE_URL, FARTHING_SIGNING_KEY: signing_key })
      assert.deepEqual(await third.webhooks(), [{ ...webhook, signing_key }])
      assert.deepEqual(third.warnings(), [])
      await third.close()

      const other = 'http://localhost:9/other'
      const fourth = await start(t, { DATABASE_URL, FARTHING_WEBHOOK_URL: other })
      assert.deepEqual(
        (await fourth.webhooks()).map(({ callback_url, status }) => [callback_url, status]),
        [
          [FARTHING_WEBHOOK_URL, 'INACTIVE'],
          [other, 'ACTIVE'],
        ],
      )
    })

    test('The fixed webhook gets the event types of the behaviour with which the service was started', async t => {
      const env = { DATABASE_URL: await newDatabase(), FARTHING_CONTROL: 'true' }
      for (const behaviour of ['specification', 'govuk-pay', 'specification'] as const) {
        const service = await start(t, { ...env, FARTHING_BEHAVIOUR: behaviour })
        const { body } = await ask(service, service.api, 'webhooks')
        const registered = body.results.map(({ subscriptions }: Body) => subscriptions)
        assert.deepEqual(registered, [eventTypesOf[behaviour]])
        await service.close()
      }
    })

    test('Another key is another receiver: the check judges what was delivered since, not how slow it was and where it redirected before', async t => {
      const receiver = await startReceiver({ plain: true, onRequest: answering(302) })
      t.after(() => receiver.close())
      const env = { DATABASE_URL: await newDatabase(), FARTHING_WEBHOOK_URL: receiver.url }
      const levels = async (started: Started) => {
        const { findings } = (await ask(started, started.api, 'check')).body
        const found = findings.filter(({ rule }: Body) => ['W1', 'W2'].includes(rule))
        return found.map(({ rule, level }: Body) => `${rule} ${level}`).toSorted()
      }
      const first = await start(t, env)
      const [webhook] = await first.webhooks()
      assert.ok(webhook)
      const { payment_id } = await first.api.createPayment()
      await first.api.post(`/v1/payments/${payment_id}/cancel`)
      let now = Date.now() - 60_000
      const clock = {
        now: () => now,
        advance(ms: number) {
          now += ms
        },
      }
      const service = { clock, database: first.database }
      await recordRows(
        { service, room: 'default' },
        SECOND,
        attemptsAt(webhook, [9, ...Array(10).fill(SLOW)]),
      )
      await first.close()

      const again = await start(t, env)
      assert.deepEqual(await levels(again), ['W1 warn', 'W2 fail'])
      await again.close()
      const changed = { ...env, FARTHING_SIGNING_KEY: 'another signing key' }
      assert.deepEqual(await levels(await start(t, changed)), ['W1 not seen', 'W2 not seen'])
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
  const DATABASE_URL = await copyMigratedDatabase()
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
