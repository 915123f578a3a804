import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeAgreement, payByAgreement } from '../../support/agreements.ts'
import { authorise, read } from '../../support/journeys.ts'
import { onSharedDatabases, type SharedService } from '../../support/service.ts'
import { endingsOf, eventTypesOf, gated, received, subscribe } from '../../support/subscriber.ts'
import { cancelOne, changes, paymentPath } from './payment-changes.ts'

const moto = { authorisation_mode: 'moto_api' }

async function settled({ apps }: SharedService): Promise<void> {
  for (const { deliveries } of apps) await deliveries.settled()
}

onSharedDatabases('Webhooks: delivery', { receives: true }, service => {
  test('the two messages of one change are sent to a webhook one after the other, in order', async t => {
    const api = await service().newAccount()
    const gate = gated(t)
    const slow = await subscribe(t, api, { behaviour: gate.behaviour })
    const payment = await api.createPayment(moto)
    const answer = authorise(api, payment)
    await slow.next()
    await read(api, payment)
    assert.equal(slow.requests.length, 1, 'the second message waits for the answer to the first')
    gate.open()
    assert.equal((await answer).status, 204)
    const types = ['card_payment_succeeded', 'card_payment_captured']
    assert.deepEqual(eventTypesOf(received(slow)), types)
  })

  test('the messages of one change are sent to different webhooks at the same time', async t => {
    const api = await service().newAccount()
    const both = gated(t)
    const first = await subscribe(t, api, { behaviour: both.behaviour })
    const second = await subscribe(t, api, { behaviour: both.behaviour })
    const answer = cancelOne(api)
    // Neither has an answer yet. If they were served one after the other, the second would never arrive.
    await Promise.all([first.next(), second.next()])
    both.open()
    assert.equal((await answer).status, 204)
    assert.equal(first.requests.length + second.requests.length, 2)
  })

  test('every kind of request that changes a payment waits for the delivery of its messages', async t => {
    const charged = { from: activeAgreement, change: payByAgreement, sends: ['succeeded'] }
    for (const [name, { from, change, sends }] of Object.entries({ ...changes, charged })) {
      if (sends.length === 0) continue
      const api = await service().newAccount()
      const payment = await from(api)
      const gate = gated(t)
      const subscriber = await subscribe(t, api, { behaviour: gate.behaviour })
      let answered = false
      const answer = change(api, payment).finally(() => {
        answered = true
      })
      await subscriber.next()
      await api.get('/v1/webhooks')
      assert.equal(answered, false, name)
      gate.open()
      await answer
    }
  })

  test('a message is delivered although the client has disconnected', async t => {
    const api = await service().newAccount()
    const gate = gated(t, ({ response, nth }) => response.writeHead(nth === 1 ? 500 : 200).end())
    const subscriber = await subscribe(t, api, { behaviour: gate.behaviour })
    const payment = await api.createPayment()
    const impatient = new AbortController()
    const request = fetch(`${service().baseUrl}${paymentPath(payment)}/cancel`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.key}` },
      signal: impatient.signal,
    })
    await subscriber.next()
    impatient.abort()
    await assert.rejects(request, { name: 'AbortError' })
    gate.open()
    await settled(service())
    assert.equal((await read(api, payment)).state.status, 'cancelled')
    assert.equal(received(subscriber).length, 2)
    assert.deepEqual(await endingsOf(api, subscriber), [['SUCCESSFUL', 2]])
  })
})
