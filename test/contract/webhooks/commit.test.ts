import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/core/ports.ts'
import { CLAIM_MS } from '../../../src/pay/webhooks/attempts.ts'
import { assertError } from '../../support/assertions.ts'
import { type Client, createClient } from '../../support/client.ts'
import { paidPayment, read } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { endsOf, gated, history, receiving, subscribe } from '../../support/subscriber.ts'
import { mockWrites } from '../../support/watched.ts'
import { changes, paymentPath } from './payment-changes.ts'

/** One change for each way to write messages: one message, two, of a refund, with an agreement, and none. */
const written = [
  'is cancelled through the API in created',
  'is authorised in moto_api mode',
  'is refunded in part',
  'sets up an agreement',
  'is opened',
]

onEveryDatabase('Webhooks: messages and commits', receiving, service => {
  /** A client of the instance whose database the test can intercept. */
  const account = async (): Promise<Client> =>
    createClient([service().baseUrl], (await service().newAccount()).key)

  test('the messages of a change are written in the same commit, before anything is sent', async t => {
    for (const name of written) {
      const { from, change, sends } = changes[name] ?? assert.fail(name)
      const api = await account()
      const payment = await from(api)
      const subscriber = await subscribe(t, api)
      const { database } = service()
      const counts = async () => {
        const [row] = await database.query<{ version: number; messages: number }>(
          `select version, (select cast(count(*) as integer) from webhook_messages messages
               where messages.payment_id = payments.payment_id) as messages
             from payments where payment_id = $1`,
          [payment.payment_id],
        )
        return row ?? assert.fail('no payment')
      }
      const written: number[][] = []
      const spy = mockWrites(t, database, async write => {
        const [before, connections] = [await counts(), subscriber.connections()]
        const isDone = await write()
        const { version, messages } = await counts()
        if (version > before.version || messages > before.messages)
          written.push([version - before.version, messages - before.messages, connections])
        return isDone
      })
      await change(api, payment)
      spy.mock.restore()
      assert.deepEqual(written, [[1, sends.length, 0]], name)
    }
  })

  test('a change that could not be written leaves no message and sends nothing', async t => {
    const api = await account()
    const payment = await api.createPayment()
    const subscriber = await subscribe(t, api)
    const failing: Database['write'] = () => Promise.reject(new Error('the disk is on fire'))
    const broken = t.mock.method(service().database, 'write', failing)
    assertError(await api.post(`${paymentPath(payment)}/cancel`), 500, 'P0999')
    broken.mock.restore()
    assert.deepEqual(await read(api, payment), payment)
    assert.deepEqual(await history(api, subscriber.webhook), [])
    assert.equal(subscriber.connections(), 0)
  })

  test('a message stays PENDING when its attempt cannot be recorded, and is sent again later', async t => {
    const api = await account()
    const payment = await api.createPayment()
    const subscriber = await subscribe(t, api)
    const broken = mockWrites(t, service().database, async write => {
      if (subscriber.connections() > 0) throw new Error('no connection')
      return write()
    })
    assert.equal((await api.post(`${paymentPath(payment)}/cancel`)).status, 204)
    broken.mock.restore()
    assert.deepEqual(await endsOf(api, subscriber), [['PENDING', 0]])
    service().clock.advance(CLAIM_MS)
    for (const { deliveries } of service().apps) await deliveries.recover()
    assert.deepEqual(await endsOf(api, subscriber), [['SUCCESSFUL', 1]])
    const [first, second] = subscriber.requests
    assert.equal(second?.body, first?.body, 'a receiver cannot tell the two requests apart')
  })

  test('a refund whose message took 5 seconds to deliver is returned as success', async t => {
    const api = await account()
    const gate = gated(t)
    const payment = await paidPayment(api)
    const { next } = await subscribe(t, api, { behaviour: gate.behaviour })
    const answer = api.post(`${paymentPath(payment)}/refunds`, { amount: 1 })
    await next()
    service().clock.advance(5_000)
    gate.open()
    const { body } = await answer
    assert.equal(body.status, 'success')
    assert.equal((await api.get(body._links.self.href)).body.status, 'success')
  })
})
