/**
 * A webhook receiver for your laptop: prints every message, and whether its signature is right.
 *
 *   SIGNING_KEY=webhook_test_... npm run receive-webhooks
 *
 * The response to registering the webhook has the signing key. Without SIGNING_KEY no signature is
 * checked. PORT is 4000 by default. Farthing must be started with FARTHING_CALLBACK_HOSTS=localhost:4000,
 * because it otherwise sends webhooks only to public https addresses.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isSigned } from './verify-signature.ts'

const { PORT = '4000', SIGNING_KEY = '' } = process.env

const WRONG_SIGNATURE =
  'Ignored. Does the message belong to another webhook? Each has its own key. Is SIGNING_KEY complete, with its prefix webhook_test_?'

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const signature = String(request.headers['pay-signature'] ?? '')
  const right = SIGNING_KEY === '' || isSigned(body, signature, SIGNING_KEY)
  // Any 2xx status means delivered. After another status, or 2 seconds without one, Farthing tries once more.
  response.writeHead(right ? 204 : 400).end()
  const verdict = SIGNING_KEY === '' ? 'not checked' : right ? 'right' : 'WRONG'
  console.log(`\n${new Date().toISOString()}  signature ${verdict}: Pay-Signature ${signature}`)
  console.log(right ? describe(body) : WRONG_SIGNATURE)
})

function describe(body: Buffer): string {
  try {
    const message = JSON.parse(body.toString())
    return `${message.event_type} of payment ${message.resource_id}\n${JSON.stringify(message, null, 2)}`
  } catch {
    return `Not a message: ${body}`
  }
}

server.on('error', error => {
  console.error(`Cannot listen: ${error.message} (set PORT to another port)`)
  process.exitCode = 1
})
server.listen(Number(PORT), 'localhost', () => {
  const { port } = server.address() as AddressInfo // never a string: the server listens on a port
  console.log(`Waiting for webhooks at http://localhost:${port}/`)
})
