/** Receivers that check signatures, each in its own way. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { Body, Client } from './client.ts'
import { ask, made } from './control.ts'
import { cancelledPayment } from './journeys.ts'
import type { Behaviour, Received } from './receiver.ts'
import { flush } from './record.ts'
import type { Service, SharedService } from './service.ts'
import { mistakesWith } from './signature-mistakes.ts'
import { history, type Subscriber, subscribe } from './subscriber.ts'
import { holdWork } from './time.ts'

export type Keys = { own: string; other: string }

type Expected = (body: string, keys: Keys) => string

export const hex = (body: string | Buffer, key: string): string =>
  createHmac('sha256', key).update(body).digest('hex')

export const right: Expected = (body, { own }) => hex(body, own)

/** The signature that a receiver expects if it makes the mistake with this cause. */
export const mistaken =
  (cause: string): Expected =>
  (body, { own, other }) => {
    const names = { other: { name: '', key: other }, webhook: '' }
    const mistake = mistakesWith({ body, key: own, ...names }).find(each => each.cause === cause)
    return mistake?.computed ?? ''
  }

/** A receiver that answers 200 or 401, as `accepts` decides. */
export const deciding = (accepts: (request: Received) => boolean): Behaviour => ({
  plain: true,
  onRequest: ({ request, response }) => response.writeHead(accepts(request) ? 200 : 401).end(),
})

export const signatureIn = ({ headers }: Received): string => String(headers['pay-signature'] ?? '')

/** Characters that libraries and encodings print differently. */
const DESCRIPTION = "Crème & £5 / 'x' +1"

/** Sends a message to a receiver, in an account of its own that has one more webhook. */
export async function refusedMessage(
  service: SharedService,
  t: TestContext,
  behaveWith: (keys: Keys) => Behaviour,
): Promise<{ api: Client; id: string; subscriber: Subscriber }> {
  const api = await service.newAccount()
  const keys: Keys = { own: '', other: '' }
  keys.other = (await addWebhook(api, 'Archive')).signing_key
  holdWork(t) // a receiver is asked for 30 seconds at most
  const subscriber = await subscribe(t, api, { behaviour: behaveWith(keys) })
  keys.own = subscriber.webhook.signing_key
  await cancelledPayment(api, { description: DESCRIPTION })
  const [message] = await history(api, subscriber.webhook)
  return { api, id: message.webhook_message_id, subscriber }
}

/** A webhook that gets no message of these tests. */
export const addWebhook = (api: Client, description: string): Promise<Body> =>
  made(
    api.post('/v1/webhooks', {
      callback_url: 'https://localhost/archive',
      description,
      subscriptions: ['card_payment_settled'],
    }),
  )

export async function askedAbout(service: SharedService, api: Client, id: string): Promise<Body> {
  const body = await made(ask(service, api, `messages/${id}/ask`, {}))
  assert.equal(body.message_id, id)
  return body
}

/** Lets a second pass, so that the work of two instances is in order: a row has the time of its writing. */
export async function passSecond(service: Service): Promise<void> {
  await flush(service)
  service.clock.advance(1_000)
}
