/** An account with a webhook on loopback, and the messages that the webhook received. */
import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Database } from '../../../src/core/ports.ts'
import { signature } from '../../../src/pay/webhooks/webhook.ts'
import { createClient } from '../../support/client.ts'
import { type Answer, startReceiver } from '../../support/receiver.ts'

export const HOOKED_KEY = 'key-of-the-hooked-account'

export const HOOKED = {
  FARTHING_API_KEYS: `hooked=${HOOKED_KEY}`,
  FARTHING_CALLBACK_HOSTS: 'localhost',
}

/** Responds 200 to every message and counts it. */
export async function startHookReceiver() {
  const received = new Map<string, number>()
  const badSignatures: string[] = []
  let signingKey = ''
  const onRequest = ({ request, response }: Answer) => {
    const { webhook_message_id } = JSON.parse(request.body)
    const good = signature(request.body, signingKey)
    if (request.headers['pay-signature'] !== good) badSignatures.push(webhook_message_id)
    received.set(webhook_message_id, (received.get(webhook_message_id) ?? 0) + 1)
    receiver.requests.length = 0 // a run may last for hours
    response.end()
  }
  const receiver = await startReceiver({ plain: true, onRequest })
  return {
    /** The number of deliveries by message identifier. */
    received,
    /** Registers itself as a webhook. Every message must then have a valid signature. */
    async register(baseUrls: string[]) {
      const api = createClient(baseUrls, HOOKED_KEY)
      const { status, body, text } = await api.post('/v1/webhooks', { callback_url: receiver.url })
      assert.equal(status, 201, text)
      signingKey = body.signing_key
    },
    async close() {
      await receiver.close()
      assert.deepEqual(badSignatures, [], 'every message is signed')
    },
  }
}

/** Waits until no message is PENDING. Each one must then have been received. */
export async function checkAllDelivered(database: Database, received: Map<string, number>) {
  const messages = () =>
    database.query<{ message_id: string; status: string }>(
      'select message_id, status from webhook_messages',
    )
  while ((await messages()).some(({ status }) => status === 'PENDING')) await setTimeout(200)
  // On a slow machine the receiver may respond later than the 2 seconds of an attempt, which is then FAILED.
  const missing = (await messages()).filter(({ message_id }) => !received.has(message_id))
  assert.deepEqual(missing, [], 'every message was delivered')
}
