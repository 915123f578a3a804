/**
 * Receives the webhook messages of GOV.UK Pay, each once. Run it with: SIGNING_KEY=... node receiver.ts 8080
 * (Node 24 or newer). `receive` is also for a route of Express, Fastify or Hono that has the body as a Buffer.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export type Message = {
  webhook_message_id: string
  event_type: string
  resource_id: string
  /** The payment as it was then. */
  resource: unknown
}

const MOST_BYTES = 1_000_000

/**
 * True if the sender of the message has the webhook's signing_key. `body` is the request's body as it
 * arrived, byte for byte: parse it only afterwards. `paySignature` is the header Pay-Signature.
 */
export function isSigned(body: Uint8Array, paySignature: string, signingKey: string): boolean {
  if (signingKey === '') return false
  const expected = Buffer.from(createHmac('sha256', signingKey).update(body).digest('hex'))
  const given = Buffer.from(paySignature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * Returns a function that returns the status of the response, and calls `handle` with each message. The folder keeps
 * which messages came. With several machines use a table with a unique column instead, in the transaction of what
 * `handle` does. Throws without a signing key.
 */
export function createReceiver(
  signingKey: string | undefined,
  folder: string,
  handle: (message: Message) => unknown,
): (body: Buffer, paySignature: string) => Promise<number> {
  if (!signingKey)
    throw new Error('SIGNING_KEY is not set, and without it anybody could sign messages')
  mkdirSync(folder, { recursive: true })
  return async (body, paySignature) => {
    if (!isSigned(body, paySignature, signingKey)) return 401
    const message = parse(body)
    if (!message) return 400
    const file = join(folder, message.webhook_message_id)
    try {
      await (await open(file, 'wx')).close()
    } catch (error) {
      // It came before: each message is tried more than once.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 200
      throw error
    }
    try {
      await handle(message)
      return 200
    } catch (error) {
      await rm(file) // the next attempt may succeed
      throw error
    }
  }
}

function parse(body: Buffer): Message | undefined {
  try {
    const message = JSON.parse(body.toString())
    const id = message.webhook_message_id
    return typeof id === 'string' && /^[0-9a-z]{1,64}$/.test(id) ? message : undefined
  } catch {
    return undefined
  }
}

/** undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

if (import.meta.main) {
  const { SIGNING_KEY, MESSAGES = 'messages' } = process.env
  const receive = createReceiver(SIGNING_KEY, MESSAGES, ({ event_type, resource_id }) =>
    console.log(`${event_type} of payment ${resource_id}`),
  )
  const statusFor = async (request: IncomingMessage): Promise<number> => {
    if (request.method !== 'POST') return 405
    const body = await readBody(request)
    return body ? receive(body, String(request.headers['pay-signature'] ?? '')) : 413
  }
  const server = createServer(async (request, response) => {
    const status = await statusFor(request).catch(error => {
      console.error(error)
      return 500
    })
    response.writeHead(status, status === 413 ? { Connection: 'close' } : {}).end()
  })
  server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })
}
