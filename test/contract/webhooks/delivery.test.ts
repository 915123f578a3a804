import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeAgreement, payByAgreement } from '../../support/agreements.ts'
import { read } from '../../support/journeys.ts'
import { onSharedDatabases, type SharedService } from '../../support/service.ts'
import { endingsOf, gated, received, subscribe } from '../../support/subscriber.ts'
import { changes, paymentPath } from './payment-changes.ts'

async function settled({ apps }: SharedService): Promise<void> {
  for (const { deliveries } of apps) await deliveries.settled()
}

// deletion.test.ts has messages to one webhook, which wait for one another, and hanging.test.ts those to several.
onSharedDatabases('Webhooks: delivery', { receives: true }, service => {
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
