/** A small shop as its developer runs it beside the tests: over http, on a port that no setting of Farthing names. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { signature } from '../../src/pay/webhooks/webhook.ts'
import { createClient } from './client.ts'
import { listen } from './ports.ts'

/** Buys something at a new shop, as a browser would. Returns the page to which it comes back, and the messages. */
export async function buyFromShop(pay: { url: string; key: string }, host: string) {
  const api = createClient([pay.url], pay.key)
  const messages: string[] = []
  let key = ''
  let id = ''
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const shop = `http://${request.headers.host}`
    if (request.url === '/buy') {
      const fields = { amount: 1450, reference: 'R-7', description: 'A licence' }
      const { body } = await api.post('/v1/payments', { ...fields, return_url: `${shop}/back` })
      id = body.payment_id
      response
        .writeHead(303, { Location: body._links?.next_url.href ?? shop })
        .end(body.description)
    } else if (request.url === '/webhooks') {
      const body = await text(request)
      const isSigned = request.headers['pay-signature'] === signature(body, key)
      if (isSigned) messages.push(JSON.parse(body).event_type)
      response.writeHead(isSigned ? 200 : 401).end()
    } else {
      const { body } = await api.get(`/v1/payments/${id}`)
      response.end(`${request.url} ${body.state?.status}`)
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  try {
    const shop = `http://${host}:${await listen(server)}`
    const { body } = await api.post('/v1/webhooks', { callback_url: `${shop}/webhooks` })
    key = body.signing_key
    const { url: details } = await fetch(`${shop}/buy`)
    await fetch(details, { method: 'POST', body: new URLSearchParams({ scenario: 'success' }) })
    const back = await fetch(`${details}/confirm`, { method: 'POST' })
    return { page: await back.text(), messages: messages.toSorted() }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
