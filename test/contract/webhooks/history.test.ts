import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../../support/client.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { answering, endsOf, gated, history, received, subscribe } from '../../support/subscriber.ts'
import { paymentPath } from './payment-changes.ts'

// messages.test.ts tests the order, and retention/sweep.test.ts the history after a sweep.
onSharedDatabases('Webhooks: delivery history', { control: true, receives: true }, service => {
  test('the history lists a message with its attempts, newest first, and the body that was sent', async t => {
    const api = await service().newAccount()
    const subscriber = await subscribe(t, api, {
      behaviour: {
        onRequest: async ({ response, nth }) => {
          await api.advance(1_500)
          response.writeHead(nth === 1 ? 418 : 202).end()
        },
      },
    })
    const payment = await api.createPayment()
    const changed = await api.now()
    await api.post(`${paymentPath(payment)}/cancel`)

    const iso = (time: number) => new Date(time).toISOString()
    const [message] = await history(api, subscriber.webhook)
    const [sent] = received(subscriber)
    const times: number[] = message.attempts.map(({ response_time }: Body) => response_time)
    assert.ok(times.every(time => Number.isInteger(time) && time >= 0))
    const attempts = [
      {
        created_date: iso(changed + 1_500),
        send_at: iso(changed + 1_500),
        status: 'SUCCESSFUL',
        status_code: 202,
        response_time: times[0],
        result: '202 Accepted',
      },
      {
        created_date: iso(changed),
        send_at: iso(changed),
        status: 'FAILED',
        status_code: 418,
        response_time: times[1],
        result: "418 I'm a Teapot",
      },
    ]
    assert.deepEqual(message, {
      webhook_message_id: sent.webhook_message_id,
      external_id: sent.webhook_message_id,
      created_date: iso(changed),
      event_date: iso(changed),
      event_type: 'card_payment_cancelled',
      resource_id: payment.payment_id,
      resource_type: 'payment',
      last_delivery_status: 'SUCCESSFUL',
      latest_attempt: attempts[0],
      attempts,
      body: sent,
    })
  })

  test('a message is PENDING until its last attempt ends, with its body and the attempts that have ended', async t => {
    const api = await service().newAccount()
    const [first, second] = [gated(t, answering(500)), gated(t)]
    const subscriber = await subscribe(t, api, {
      behaviour: {
        onRequest: answer => (answer.nth === 1 ? first : second).behaviour.onRequest?.(answer),
      },
    })
    const answer = cancelledPayment(api)
    await subscriber.next()
    const [message] = await history(api, subscriber.webhook)
    const { last_delivery_status, latest_attempt, attempts, body } = message
    assert.deepEqual(
      { last_delivery_status, latest_attempt, attempts },
      { last_delivery_status: 'PENDING', latest_attempt: null, attempts: [] },
    )
    assert.deepEqual(body, received(subscriber)[0])
    first.open()
    await subscriber.next()
    assert.deepEqual(await endsOf(api, subscriber), [['PENDING', 1]])
    second.open()
    await answer
    assert.deepEqual(await endsOf(api, subscriber), [['SUCCESSFUL', 2]])
  })
})
