import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Database, Send, Value } from '../../../src/core/ports.ts'
import { CLAIM_MS } from '../../../src/pay/webhooks/attempts.ts'
import { markersOf } from '../../../src/tools/watch-store.ts'
import type { Body, Client } from '../../support/client.ts'
import {
  type HeldSend,
  holdSends,
  instanceOn,
  resultOf,
  unsentMessage,
} from '../../support/held-send.ts'
import { authorise, cancelledPayment } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { eventTypesOf, history } from '../../support/subscriber.ts'
import { watchedService } from '../../support/watched.ts'

/** Sends for the instances that die. It never resolves, so that their messages stay unsent. */
let dead: HeldSend = holdSends()

function sender(status = 200) {
  const sent: Body[] = []
  const busy = new Set<string>()
  const send: Send = async ({ url, body }) => {
    assert.ok(!busy.has(url), 'two at once to one webhook')
    busy.add(url)
    sent.push(JSON.parse(body))
    for (let turns = 0; turns < 5; turns++) await setImmediate()
    busy.delete(url)
    return resultOf(status)
  }
  return { send, sent }
}

const idsOf = (messages: Body[]): string[] => messages.map(message => message.webhook_message_id)

onEveryDatabase(
  'A message that an instance left unsent',
  { send: message => dead.send(message) },
  service => {
    const instance = (...given: [Send, different?: Parameters<typeof instanceOn>[2]]) =>
      instanceOn(service(), ...given)

    const refusing = (isRefused: (values: Value[]) => boolean): Database => ({
      ...service().database,
      query: (sql, values = []) =>
        isRefused(values)
          ? Promise.reject(new Error('no connection'))
          : service().database.query(sql, values),
    })

    async function accountWith(t: TestContext, webhooks: number): Promise<[Client, Body[]]> {
      dead = holdSends()
      const api = await service().newAccount()
      const made: Body[] = []
      for (let i = 0; i < webhooks; i++)
        made.push(
          (await api.post('/v1/webhooks', { callback_url: `https://hooks${i}.example.com/` })).body,
        )
      t.after(endDead)
      return [api, made]
    }

    /** Ends the sends of the dead instances, which nothing may notice. */
    async function endDead(): Promise<void> {
      dead.endAll(200)
      for (const { deliveries } of service().apps) await deliveries.settled()
    }

    /** Cancels payments one after another. Each change is committed, and no message is delivered. */
    async function crashAfter(api: Client, changes: number, webhooks = 1): Promise<void> {
      for (let i = 0; i < changes; i++) {
        service().clock.advance(1)
        void cancelledPayment(api)
        await dead.next(webhooks)
      }
    }

    const story = async (api: Client, webhook: Body | undefined): Promise<string[]> =>
      (await history(api, webhook)).map(
        ({ last_delivery_status, attempts }) => `${last_delivery_status} ${attempts.length}`,
      )

    test('The messages that an instance left unsent are sent unchanged and in order, once their claim has ended, and once only', async t => {
      const [api, [webhook]] = await accountWith(t, 1)
      void authorise(api, await api.createPayment({ authorisation_mode: 'moto_api' }))
      await dead.next()
      assert.deepEqual(await story(api, webhook), ['PENDING 0', 'PENDING 0'])
      const { send, sent } = sender()
      const next = instance(send)
      service().clock.advance(CLAIM_MS - 1)
      await next.recover()
      assert.equal(sent.length, 0, 'they may still be under way')
      service().clock.advance(1)
      await next.recover()
      assert.deepEqual(eventTypesOf(sent), ['card_payment_succeeded', 'card_payment_captured'])
      assert.deepEqual(sent[0], JSON.parse(dead.calls[0]?.body ?? ''))
      await next.recover()
      assert.equal(sent.length, 2)
      assert.deepEqual(await story(api, webhook), ['SUCCESSFUL 1', 'SUCCESSFUL 1'])
    })

    test('A message is not sent by others while the instance that made it is sending it', async t => {
      const [api, [webhook]] = await accountWith(t, 1)
      await crashAfter(api, 1)
      for (const { deliveries } of service().apps) await deliveries.recover()
      dead.endAll(500)
      await dead.next()
      service().clock.advance(CLAIM_MS - 1)
      for (const { deliveries } of service().apps) await deliveries.recover()
      assert.equal(dead.calls.length, 2, 'the two attempts of the instance that made it')
      await endDead()
      assert.deepEqual(await story(api, webhook), ['SUCCESSFUL 2'])
    })

    test('A message keeps the results that another instance recorded while that of the first was delayed', async t => {
      const [api, [webhook]] = await accountWith(t, 1)
      await crashAfter(api, 1)
      service().clock.advance(CLAIM_MS)
      const taking = holdSends()
      const round = instance(taking.send).recover()
      const [first] = await taking.next()
      first?.end(500)
      const [second] = await taking.next()
      await endDead()
      second?.end(200)
      await round
      const [message] = await history(api, webhook)
      const codes = message.attempts.map((attempt: Body) => attempt.status_code)
      assert.deepEqual([message.last_delivery_status, codes], ['SUCCESSFUL', [200, 500]])
      assert.equal(dead.calls.length, 1)
    })

    test('The message after one that another instance has taken over is left to that instance', async t => {
      const [api, [webhook]] = await accountWith(t, 1)
      void authorise(api, await api.createPayment({ authorisation_mode: 'moto_api' }))
      await dead.next()
      service().clock.advance(CLAIM_MS)
      const taking = holdSends()
      const round = instance(taking.send).recover()
      const [first] = await taking.next()
      first?.end(200)
      await taking.next()
      dead.endAll(500)
      const settled = service().apps.map(({ deliveries }) => deliveries.settled())
      await Promise.race([Promise.all(settled), dead.next()])
      assert.equal(dead.calls.length, 1, 'it would arrive twice')
      taking.endAll(200)
      await round
      assert.deepEqual(await story(api, webhook), ['SUCCESSFUL 1', 'SUCCESSFUL 1'])
    })

    test('A message is not overtaken by the next one of its webhook when the database fails', async t => {
      const [api, [webhook]] = await accountWith(t, 1)
      await crashAfter(api, 2)
      const created = service().clock.now()
      const messages = dead.calls.map(({ body }) =>
        unsentMessage(body, webhook?.external_id, created),
      )
      const { send, sent } = sender()
      const faults: unknown[] = []
      let failing = true
      const deliveries = instance(send, {
        database: refusing(() => failing),
        onFault: error => {
          faults.push(error)
          failing = false
        },
      })
      await deliveries.deliver(messages)
      assert.equal(faults.length, 1)
      assert.equal(sent.length, 0)
      service().clock.advance(CLAIM_MS)
      await deliveries.recover()
      assert.deepEqual(idsOf(sent), idsOf(messages.map(({ body }) => JSON.parse(body))))
    })

    test('An instance that fails for one webhook still serves the others, and that one later', async t => {
      const [api, webhooks] = await accountWith(t, 2)
      await crashAfter(api, 1, 2)
      service().clock.advance(CLAIM_MS)
      const faults: unknown[] = []
      let failures = 1
      const { send, sent } = sender()
      const next = instance(send, {
        database: refusing(values => values.includes(webhooks[0].external_id) && failures-- > 0),
        onFault: error => faults.push(error),
      })
      await next.recover()
      assert.deepEqual([faults.length, sent.length], [1, 1])
      service().clock.advance(CLAIM_MS)
      await next.recover()
      await next.settled()
      for (const webhook of webhooks) assert.deepEqual(await story(api, webhook), ['SUCCESSFUL 1'])
    })

    test('Unsent messages are sent to their webhook in order, one at a time, whichever instance sends them', async t => {
      const [api] = await accountWith(t, 1)
      await crashAfter(api, 8)
      service().clock.advance(CLAIM_MS)
      const { send, sent } = sender()
      const looking = [instance(send), instance(send)].map(async each => {
        for (; sent.length < 8; await setImmediate()) await each.recover()
      })
      await Promise.all(looking)
      assert.deepEqual(idsOf(sent), idsOf(sent).toSorted())
      assert.equal(sent.length, 8)
    })

    test('An unsent message does not wait for those of a webhook that hangs', async t => {
      const [api, [hanging, other]] = await accountWith(t, 2)
      await crashAfter(api, 1, 2)
      service().clock.advance(CLAIM_MS / 2)
      await crashAfter(api, 1, 2)
      service().clock.advance(CLAIM_MS / 2)
      const stuck = holdSends()
      const open = holdSends()
      const next = instance(message =>
        (message.url === hanging?.callback_url ? stuck : open).send(message),
      )
      const round = next.recover()
      await stuck.next()
      const [older] = await open.next()
      older?.end(200)
      service().clock.advance(CLAIM_MS / 2)
      const later = next.recover()
      const [newer] = await open.next()
      newer?.end(200)
      await later
      // The first round may still have been looking when the claim ended. Then it sends the message itself.
      const told = async () => !(await story(api, other)).includes('PENDING 0')
      while (!(await told()));
      assert.deepEqual(await story(api, other), ['SUCCESSFUL 1', 'SUCCESSFUL 1'])
      assert.equal(stuck.calls.length, 1)
      stuck.endAll(200)
      const [second] = (await stuck.next()) ?? []
      second?.end(200)
      await round
      assert.deepEqual(await story(api, hanging), ['SUCCESSFUL 1', 'SUCCESSFUL 1'])
    })

    test('A service that stops finishes the deliveries under way and leaves other unsent messages to the next start', async t => {
      const [api, [webhook]] = await accountWith(t, 1)
      await crashAfter(api, 3)
      service().clock.advance(CLAIM_MS)
      const stopping = new AbortController()
      const last = holdSends()
      const next = instance(last.send)
      const round = next.recover(stopping.signal)
      const [call] = await last.next()
      stopping.abort()
      call?.end(200)
      await round
      await next.settled()
      assert.equal(last.calls.length, 1)
      assert.deepEqual(await story(api, webhook), ['PENDING 0', 'PENDING 0', 'SUCCESSFUL 1'])
    })
  },
)

test('Looking for unsent messages reads no history: it happens every few seconds', async t => {
  const held = holdSends()
  const { api, service, forget, assertPlans } = await watchedService(t, { send: held.send })
  await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.com/' })
  const request = cancelledPayment(api)
  await held.next()
  service.clock.advance(60_000)
  await assertPlans(/ webhooks /, /webhooks_active|\(webhook_id=\?/, 2)
  forget()
  const [app] = service.apps
  void app?.deliveries.recover()
  await held.next()
  held.endAll(200)
  await request
  await app?.deliveries.settled()
  await service.database.query(markersOf(['room']), ['', '', 'room'])
  // Two searches, a claim, the message itself, and the search of those that wait for one.
  await assertPlans(/\b(messages|webhook_messages)\b/, /_unsent|\(message_id=\?\)/, 5)
})
