import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeAgreement, payByAgreement } from '../../support/agreements.ts'
import type { Client } from '../../support/client.ts'
import { authorise, cancelledPayment, read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { answering, endsOf, gated, received, subscribe } from '../../support/subscriber.ts'
import { interleaving } from '../../support/watched.ts'
import { changes, paymentPath } from './payment-changes.ts'

// hanging.test.ts has messages to several webhooks.
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
    for (const { deliveries } of service().apps) await deliveries.settled()
    assert.equal((await read(api, payment)).state.status, 'cancelled')
    assert.equal(received(subscriber).length, 2)
    assert.deepEqual(await endsOf(api, subscriber), [['SUCCESSFUL', 2]])
  })

  const held = async (
    t: Parameters<typeof subscribe>[0],
    change: (api: Client) => Promise<unknown>,
    status: number,
  ) => {
    const api = await service().newAccount()
    const gate = gated(t, answering(status))
    const subscriber = await subscribe(t, api, { behaviour: gate.behaviour })
    const answer = change(api)
    await subscriber.next()
    assert.equal((await api.delete(`/v1/webhooks/${subscriber.webhook.external_id}`)).status, 204)
    gate.open()
    await answer
    return { api, subscriber }
  }

  test('an attempt under way when its webhook is deleted counts', async t => {
    const { api, subscriber } = await held(t, cancelledPayment, 200)
    assert.deepEqual(await endsOf(api, subscriber), [['SUCCESSFUL', 1]])
  })

  test('a message whose webhook is deleted during its first attempt gets no second attempt and is FAILED', async t => {
    const { api, subscriber } = await held(t, cancelledPayment, 500)
    assert.deepEqual(await endsOf(api, subscriber), [['FAILED', 1]])
    assert.equal(subscriber.requests.length, 1)
  })

  test('a message whose webhook is deleted before its first attempt is FAILED with no attempt', async t => {
    const pay = async (api: Client) =>
      authorise(api, await api.createPayment({ authorisation_mode: 'moto_api' }))
    const { api, subscriber } = await held(t, pay, 200)
    assert.deepEqual(await endsOf(api, subscriber), [
      ['FAILED', 0],
      ['SUCCESSFUL', 1],
    ])
    assert.equal(subscriber.requests.length, 1)
  })

  test('a webhook deleted while a change is being written receives no message of it', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const deleted = await subscribe(t, api)
    const kept = await subscribe(t, api)
    const payment = await api.createPayment()
    beforeWrite(() => api.delete(`/v1/webhooks/${deleted.webhook.external_id}`))
    assert.equal((await api.post(`${paymentPath(payment)}/cancel`)).status, 204)
    assert.deepEqual(await endsOf(api, deleted), [])
    assert.equal(deleted.connections(), 0)
    assert.deepEqual(await endsOf(api, kept), [['SUCCESSFUL', 1]])
  })
})
