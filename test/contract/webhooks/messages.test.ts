import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { choose, paidPayment, read } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'
import {
  eventTypesOf,
  history,
  openMessage,
  received,
  receiving,
  type Subscriber,
  subscribe,
} from '../../support/subscriber.ts'
import { changes, paymentPath, refusals } from './payment-changes.ts'

const prefixed = (names: string[]): string[] => names.map(name => `card_payment_${name}`)

// test/faults/model.test.ts compares what both databases send.
onOneDatabase('Webhooks: messages of each change', { ...receiving, control: true }, service => {
  for (const [what, { from, change, sends }] of Object.entries({ ...changes, ...refusals }))
    test(`a webhook receives ${sends.join(', then ') || 'no message'} when a payment ${what}`, async t => {
      const api = await service().newAccount()
      const payment = await from(api)
      const seen: Body[] = []
      const all = await subscribe(t, api, {
        // The receiver reads the payment while the request that changed it still waits.
        behaviour: {
          onRequest: async ({ request, response }) => {
            seen.push(await read(api, { payment_id: JSON.parse(request.body).resource_id }))
            response.end()
          },
        },
      })
      await api.advance(1_000)

      await change(api, payment)

      assert.deepEqual(eventTypesOf(received(all)), prefixed(sends))
      for (const message of received(all)) await assertMessage(api, payment, message)
      assert.deepEqual(
        seen,
        received(all).map(({ resource }) => resource),
      )
      await assertHistory(api, all)
    })
})

onSharedDatabases('Webhooks: messages', { control: true, receives: true }, service => {
  test('a webhook receives only the event types of its subscriptions, and nothing once it is deleted or of another account', async t => {
    const api = await service().newAccount()
    const two = await subscribe(t, api, { subscriptions: prefixed(['captured', 'failed']) })
    const never = await subscribe(t, api, { subscriptions: prefixed(['settled']) })
    const deleted = await subscribe(t, api)
    await api.delete(`/v1/webhooks/${deleted.webhook.external_id}`)
    const other = await subscribe(t, await service().newAccount())
    await paidPayment(api)
    await api.advance(1_000)
    const declined = await api.createPayment()
    await choose(api, declined, 'declined')
    const [captured, failed] = received(two)
    assert.deepEqual(eventTypesOf(received(two)), prefixed(['captured', 'failed']))
    assert.notEqual(captured.resource_id, failed.resource_id)
    await assertMessage(api, declined, failed)
    await assertHistory(api, two)
    for (const silent of [never, deleted, other]) assert.equal(silent.connections(), 0)
    assert.deepEqual(await history(api, deleted.webhook), [])
  })

  test('the body of a message is unescaped UTF-8', async t => {
    const api = await service().newAccount()
    const all = await subscribe(t, api)
    const description = 'Caffè 😀 \u2028 "£46.50" \\'
    const payment = await api.createPayment({ description })
    await api.post(`${paymentPath(payment)}/cancel`)
    const [request] = await all.next()
    assert.equal(openMessage(request!, all.webhook).resource.description, description)
    assert.ok(request!.body.includes('Caffè 😀'))
  })
})

/** The resource of a message is the payment as GET returns it after the change. */
async function assertMessage(api: Client, payment: Body, message: Body) {
  const { webhook_message_id, event_type, resource, ...rest } = message
  const { payment_id } = payment ?? resource
  assert.match(webhook_message_id, /^[0-9a-v]{26}$/)
  assert.match(event_type, /^card_payment_/)
  assert.deepEqual(rest, {
    api_version: 1,
    created_date: new Date(await api.now()).toISOString(),
    resource_id: payment_id,
    resource_type: 'payment',
  })
  assert.deepEqual(resource, await read(api, { payment_id }))
}

async function assertHistory(api: Client, subscriber: Subscriber): Promise<void> {
  const messages = await history(api, subscriber.webhook)
  assert.deepEqual(messages.map(({ body }) => body).reverse(), received(subscriber))
  for (const { last_delivery_status, attempts } of messages) {
    assert.equal(last_delivery_status, 'SUCCESSFUL')
    assert.equal(attempts.length, 1)
  }
}
