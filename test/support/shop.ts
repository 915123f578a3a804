/** A small shop as its developer runs it beside the tests: over http, on a port that no setting of Farthing names. */
import { signature } from '../../src/pay/webhooks/webhook.ts'
import { createClient } from './client.ts'
import { choose, read } from './journeys.ts'
import { startReceiver } from './receiver.ts'

/** Buys something at a new shop, as a browser would. Returns the page after it, and the types of the messages. */
export async function buyFromShop(pay: { url: string; key: string }, host: string) {
  const api = createClient([pay.url], pay.key)
  const shop = await startReceiver({ plain: true })
  try {
    const url = `http://${host}:${shop.port}`
    const { body: webhook } = await api.post('/v1/webhooks', { callback_url: `${url}/webhooks` })
    const payment = await api.createPayment({ return_url: `${url}/back` })
    await choose(api, payment, 'success')
    const back = await fetch(`${payment._links.next_url.href}/confirm`, { method: 'POST' })
    const { state } = await read(api, payment)
    const signed = shop.requests.filter(
      ({ headers, body }) => headers['pay-signature'] === signature(body, webhook.signing_key),
    )
    return {
      page: `${new URL(back.url).pathname} ${state.status}`,
      messages: signed.map(({ body }) => JSON.parse(body).event_type).toSorted(),
    }
  } finally {
    await shop.close()
  }
}
