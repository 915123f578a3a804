/** An account that gives content to every page of requests, webhooks, messages and signatures. */
import assert from 'node:assert/strict'
import { type Body, type Client, webPayment } from './client.ts'
import { cancelledPayment } from './journeys.ts'
import { startReceiver } from './receiver.ts'
import type { Service } from './service.ts'
import { history } from './subscriber.ts'

export type Shelf = Awaited<ReturnType<typeof fillAccount>>

const MOMENT = 137

/** The service must allow callbacks to localhost (`receiving`). */
export async function fillAccount(service: Service, api: Client) {
  const accepting = await startReceiver()
  const refusing = await startReceiver({
    onRequest: ({ response }) =>
      response
        .writeHead(401, { 'Content-Type': 'application/json' })
        .end('{"error":"bad signature"}'),
  })
  const register = async (fields: object): Promise<Body> => {
    const { status, body, text } = await api.post('/v1/webhooks', fields)
    assert.equal(status, 201, text)
    return body
  }
  const tick = () => service.clock.advance(MOMENT)
  const subscriptions = ['card_payment_failed', 'card_payment_captured']
  const old = await register({ callback_url: accepting.url, description: 'Old feed' })
  tick()
  await cancelledPayment(api, { reference: 'R-cancelled' })
  await api.delete(`/v1/webhooks/${old.external_id}`)
  tick()
  const ledger = await register({ callback_url: accepting.url, description: 'Ledger feed' })
  const second = { callback_url: refusing.url, description: 'Archive', subscriptions }
  const archive = await register(second)
  // With the same address as `ledger`.
  await register({ callback_url: accepting.url, subscriptions })
  const tried: Record<string, Body> = {}
  for (const scenario of ['success', 'declined']) {
    const payment = await api.createPayment({ reference: `R-${scenario}` })
    const { pathname } = new URL(payment._links.next_url.href)
    tick()
    await api.get(pathname)
    tick()
    await api.postForm(pathname, { scenario })
    tick()
    if (scenario === 'success') await api.postForm(`${pathname}/confirm`, {})
    tried[scenario] = payment
  }
  for (let i = 0; i < 3; i++) {
    tick()
    await api.post('/v1/payments', { ...webPayment, return_url: 'no' })
  }
  await api.post('/v1/payments', { amount: 'much' })
  tick()
  await api.get('/v1/payments?referense=R-success&display_size=20')
  return {
    /** Its receiver accepts every message. */
    ledger,
    /** Its receiver answers 401. */
    archive,
    paid: tried.success,
    declined: tried.declined,
    /** Messages, newest first. */
    delivered: await history(api, ledger),
    failed: await history(api, archive),
    /** A message of a webhook that was deactivated. */
    unsendable: (await history(api, old))[0],
    receivers: [accepting, refusing],
    close: () => Promise.all([accepting.close(), refusing.close()]),
  }
}
