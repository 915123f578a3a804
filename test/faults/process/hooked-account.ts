/** An account with a webhook on loopback, and the messages that the webhook received. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Database } from '../../../src/core/ports.ts'
import { createClient } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'

export type HookReceiver = {
  /** For FARTHING_CALLBACK_HOSTS. */
  host: string
  /** Registers itself as a webhook. Every message must then have a valid signature. */
  register(baseUrls: string[], key: string): Promise<void>
  /** The number of deliveries by message identifier. */
  received: Map<string, number>
  close(): Promise<void>
}

/** Responds 200 to every message and counts it. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const received = new Map<string, number>()
  const badSignatures: string[] = []
  let signingKey = ''
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const good = createHmac('sha256', signingKey).update(body).digest('hex')
    const { webhook_message_id } = JSON.parse(body.toString())
    if (request.headers['pay-signature'] !== good) badSignatures.push(webhook_message_id)
    received.set(webhook_message_id, (received.get(webhook_message_id) ?? 0) + 1)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has a port
  return {
    host,
    received,
    async register(baseUrls, key) {
      const body = { callback_url: `http://${host}/hook` }
      const answer = await createClient(baseUrls, key).post('/v1/webhooks', body)
      assert.equal(answer.status, 201, answer.text)
      const { external_id } = answer.body
      const read = await createClient(baseUrls, key).get(`/v1/webhooks/${external_id}`)
      signingKey = read.body.signing_key
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      assert.deepEqual(badSignatures, [], 'every message is signed')
    },
  }
}

/** Creates the account with the command line and returns its key. */
export async function makeKey(env: Record<string, string>): Promise<string> {
  const made = await runHere({ env, args: ['keys', 'create', '--account', 'hooked'] })
  assert.equal(made.code, 0, made.stderr)
  return made.stdout.trim()
}

/** Waits until no message is PENDING. Then each one must have been received. */
export async function checkAllDelivered(
  database: Database,
  received: HookReceiver['received'],
  patience: number,
): Promise<void> {
  const deadline = Date.now() + patience
  for (;;) {
    const left = await database.query(
      `select message_id from webhook_messages where status = 'PENDING'`,
    )
    if (left.length === 0) break
    assert.ok(Date.now() < deadline, `${left.length} messages are not delivered`)
    await setTimeout(200)
  }
  const messages = await database.query<{ message_id: string; status: string }>(
    'select message_id, status from webhook_messages',
  )
  const missing = messages.filter(
    ({ message_id, status }) => status !== 'SUCCESSFUL' || !received.has(message_id),
  )
  assert.deepEqual(missing, [], 'every message was delivered')
}
