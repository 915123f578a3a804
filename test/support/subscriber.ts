/** Webhooks of an account, with real HTTPS receivers. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { TestContext } from 'node:test'
import { authority } from './certificates.ts'
import type { Body, Client } from './client.ts'
import {
  type Answer,
  type Behaviour,
  type Received,
  type Receiver,
  startReceiver,
} from './receiver.ts'
import type { Service, ServiceOptions } from './service.ts'
import { holdAttempts } from './time.ts'

/** Options of a service that may send to this machine and trusts the certificates of the tests. */
export const receiving = {
  env: { FARTHING_CALLBACK_HOSTS: 'localhost' },
  resolve: async () => ['127.0.0.1'],
  ca: authority,
} satisfies ServiceOptions

export type Subscriber = Receiver & { webhook: Body }

export type SubscriberOptions = {
  subscriptions?: string[]
  description?: string
  behaviour?: Behaviour
  /** The path at which it registers. */
  at?: string
}

/** Starts a receiver, registers a webhook for it, and closes the receiver after the test. */
export async function subscribe(
  t: TestContext,
  api: Client,
  { behaviour, at = '/v1/webhooks', ...fields }: SubscriberOptions = {},
): Promise<Subscriber> {
  if (!behaviour?.hangs) holdAttempts(t)
  const receiver = await startReceiver(behaviour)
  t.after(() => receiver.close())
  const answer = await api.post(at, { callback_url: receiver.url, ...fields })
  assert.equal(answer.status, 201, answer.text)
  return { ...receiver, webhook: answer.body }
}

/** Checks method, path, headers and signature of a message, and returns its body. */
export function openMessage(received: Received, { signing_key }: Body): Body {
  const { method, path, headers, body } = received
  assert.deepEqual([method, path], ['POST', '/hook'])
  assert.equal(headers['content-type'], 'application/json')
  assert.match(headers['user-agent'] ?? '', /^Farthing\/\S+$/)
  assert.equal(headers['content-length'], String(Buffer.byteLength(body)))
  const signature = createHmac('sha256', signing_key).update(body, 'utf8').digest('hex')
  assert.equal(headers['pay-signature'], signature)
  return JSON.parse(body)
}

/** The checked messages in the order of arrival. */
export const received = ({ requests, webhook }: Subscriber): Body[] =>
  requests.map(request => openMessage(request, webhook))

export const eventTypesOf = (messages: Body[]): string[] =>
  messages.map(({ event_type }) => event_type)

/** The delivery history of a webhook, newest first. */
export async function history(api: Client, { external_id }: Body): Promise<Body[]> {
  const { status, body, text } = await api.get(`/v1/webhooks/${external_id}/messages`)
  assert.equal(status, 200, text)
  return body.results
}

/** Delivery status and number of attempts of each message, newest first. */
export async function endsOf(api: Client, { webhook }: Subscriber) {
  const messages = await history(api, webhook)
  return messages.map(({ last_delivery_status, attempts }) => [
    last_delivery_status,
    attempts.length,
  ])
}

/** All rows of messages and payments, to see that nothing changes them. */
export async function messagesAndPayments({ database }: Pick<Service, 'database'>) {
  const [messages, payments] = await Promise.all([
    database.query('select * from webhook_messages order by message_id'),
    database.query('select * from payments order by payment_id'),
  ])
  return JSON.stringify([messages, payments])
}

export type Reaction = (answer: Answer) => void

export const answering =
  (status: number): Reaction =>
  ({ response }) =>
    response.writeHead(status).end()

/** Holds every request until `open`. Then `react` responds to the held and all later requests. */
export function gated(t: TestContext, react: Reaction = answering(200)) {
  holdAttempts(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    behaviour: { onRequest: (answer: Answer) => void promise.then(() => react(answer)) },
    open: resolve,
  }
}
