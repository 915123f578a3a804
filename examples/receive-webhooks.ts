/**
 * A receiver of webhooks for your laptop: prints every message, and whether its signature is right.
 *
 *   SIGNING_KEY=webhook_test_... npm run receive-webhooks
 *
 * PORT is 4000 if not set. Without SIGNING_KEY, which registering the webhook answers, nothing is
 * checked. Farthing must have been told to let webhooks through to here:
 * FARTHING_CALLBACK_HOSTS=localhost:4000
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isSigned } from './verify-signature.ts'

const { PORT = '4000', SIGNING_KEY = '' } = process.env

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const signature = String(request.headers['pay-signature'] ?? '')
  const right = SIGNING_KEY === '' || isSigned(body, signature, SIGNING_KEY)
  // Any 2xx says that the message arrived; anything else, or no answer in two seconds, has it sent again.
  response.writeHead(right ? 204 : 400).end()
  const verdict = SIGNING_KEY === '' ? 'not checked' : right ? 'right' : 'WRONG'
  console.log(`\n${new Date().toISOString()}  signature ${verdict}: Pay-Signature ${signature}`)
  console.log(right ? describe(body) : 'Ignored: is it of another webhook, with a key of its own?')
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
  console.error(`Cannot listen: ${error.message} (set PORT to another one)`)
  process.exitCode = 1
})
server.listen(Number(PORT), 'localhost', () => {
  const { port } = server.address() as AddressInfo // it listens on a port
  console.log(`Waiting for webhooks at http://localhost:${port}/`)
})
