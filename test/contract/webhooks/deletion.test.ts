import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../support/client.ts'
import { authorise, cancelledPayment } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { answering, endingsOf, gated, subscribe } from '../../support/subscriber.ts'
import { interleaving } from '../../support/watched.ts'
import { paymentPath } from './payment-changes.ts'

const moto = { authorisation_mode: 'moto_api' }

onSharedDatabases('Webhooks: deletion during a delivery', { receives: true }, service => {
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
    const { external_id } = subscriber.webhook
    assert.equal((await api.delete(`/v1/webhooks/${external_id}`)).status, 204)
    gate.open()
    await answer
    return { api, subscriber }
  }

  test('an attempt under way when its webhook is deleted counts', async t => {
    const { api, subscriber } = await held(t, cancelledPayment, 200)
    assert.deepEqual(await endingsOf(api, subscriber), [['SUCCESSFUL', 1]])
  })

  test('a message whose webhook is deleted during its first attempt gets no second attempt and is FAILED', async t => {
    const { api, subscriber } = await held(t, cancelledPayment, 500)
    assert.deepEqual(await endingsOf(api, subscriber), [['FAILED', 1]])
    assert.equal(subscriber.requests.length, 1)
  })

  test('a message whose webhook is deleted before its first attempt is FAILED with no attempt', async t => {
    const pay = async (api: Client) => authorise(api, await api.createPayment(moto))
    const { api, subscriber } = await held(t, pay, 200)
    assert.deepEqual(await endingsOf(api, subscriber), [
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
    assert.deepEqual(await endingsOf(api, deleted), [])
    assert.equal(deleted.connections(), 0)
    assert.deepEqual(await endingsOf(api, kept), [['SUCCESSFUL', 1]])
  })
})
