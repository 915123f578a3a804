import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from '../../../src/core/ports.ts'
import { CLAIM_MS, createDeliveries, type Deliveries } from '../../../src/pay/webhooks/deliver.ts'
import type { Body, Client } from '../../support/client.ts'
import { type HeldSend, holdSends } from '../../support/held-send.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history } from '../../support/subscriber.ts'
import { cancelOne } from './payment-changes.ts'

/** The sender of the service. It returns when the test ends the send. */
let held: HeldSend = holdSends()

onEveryDatabase(
  'Webhooks: two instances',
  service => {
    const instance = (
      send: HeldSend['send'],
      onFault: (error: unknown) => void = error => assert.fail(String(error)),
      database: Database = service().database,
    ): Deliveries => createDeliveries({ database, time: service().time, send, onFault })

    /** Creates an account with webhooks at these addresses and cancels a payment. The claim on its messages has ended. */
    async function accountWith(t: TestContext, urls: string[]): Promise<[Client, Body[]]> {
      held = holdSends()
      const api = await service().newAccount()
      const webhooks: Body[] = []
      for (const callback_url of urls)
        webhooks.push((await api.post('/v1/webhooks', { callback_url })).body)
      const cancelled = cancelOne(api)
      await held.next(urls.length)
      service().clock.advance(CLAIM_MS)
      t.after(async () => {
        held.endAll(200)
        await cancelled
      })
      return [api, webhooks]
    }

    test('the result of an instance that took a message over is not overwritten by the first instance', async t => {
      const [api, [webhook]] = await accountWith(t, ['https://hooks.example.com/'])
      const taking = holdSends()
      const round = instance(taking.send).recover()
      const [first] = await taking.next()
      first?.end(500)
      const [second] = await taking.next()
      held.endAll(200)
      for (const { deliveries } of service().apps) await deliveries.settled()
      second?.end(200)
      await round
      const [message] = await history(api, webhook)
      const codes = message.attempts.map((attempt: Body) => attempt.status_code)
      assert.deepEqual([message.last_delivery_status, codes], ['SUCCESSFUL', [200, 500]])
    })

    test('an instance that fails for one webhook still serves the others, and that one later', async t => {
      const urls = ['https://hooks1.example.com/', 'https://hooks2.example.com/']
      await accountWith(t, urls)
      const { database } = service()
      const faults: unknown[] = []
      let failures = 1
      const failing: Database = {
        ...database,
        query: (sql, values) =>
          /from webhook_messages m/.test(sql) && failures-- > 0
            ? Promise.reject(new Error('no connection'))
            : database.query(sql, values),
      }
      const sent: string[] = []
      const next = instance(
        async ({ url }) => {
          sent.push(url)
          return { status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }
        },
        error => faults.push(error),
        failing,
      )
      await next.recover()
      assert.deepEqual([faults.length, sent.length], [1, 1])
      service().clock.advance(CLAIM_MS)
      await next.recover()
      await next.settled()
      assert.deepEqual(sent.toSorted(), urls)
    })
  },
  { send: message => held.send(message) },
)
