/** Webhooks, messages and their delivery: Specification, *Webhook event types* and *Delivery rules*. */
import type { AttemptResult } from '../../src/core/ports.ts'
import { type EventType, eventTypesOf } from '../../src/pay/webhooks/webhook.ts'
import { resultOf } from '../support/held-send.ts'
import {
  type Account,
  isGone,
  iso,
  NO_ID,
  newNumber,
  refusal,
  type Step,
  type World,
} from './model.ts'
import { type Payment, shown } from './model-payments.ts'

/** A receiver accepts every message, refuses every message, or accepts each at the second attempt. */
export type Manners = 'accepts' | 'refuses' | 'hesitates'

export type Webhook = {
  name: string
  account: Account
  created: number
  callback_url: string
  subscriptions: readonly string[]
  active: boolean
  signing_key: string
  manners: Manners
}

export type Message = {
  name: string
  webhook: Webhook
  payment: Payment
  event_type: string
  created: number
  /** The payment as GET showed it at the change. */
  resource: object
  /** Oldest first. */
  attempts: (AttemptResult & { at: number })[]
  status: 'PENDING' | 'SUCCESSFUL' | 'FAILED'
}

const TIMEOUT = { ...resultOf(0), status_code: null, response_time: 2001, result: 'timeout' }

/** How the receiver responds to the nth attempt at a message, counted from 1. */
export function outcome(manners: Manners, nth: number): AttemptResult {
  if (manners === 'accepts' || (manners === 'hesitates' && nth > 1)) return resultOf(202)
  return manners === 'hesitates' ? TIMEOUT : resultOf(500)
}

/** Writes a message for each active, subscribed webhook of the account, and delivers as far as possible. */
export function notify(world: World, payment: Payment, eventTypes: readonly EventType[]): void {
  const webhooks = world.webhooks.filter(
    ({ account, active }) => active && account === payment.account,
  )
  const messages = eventTypes.flatMap(event_type =>
    webhooks
      .filter(({ subscriptions }) => subscriptions.includes(event_type))
      .map(
        (webhook): Message => ({
          name: `{message-${newNumber(world)}}`,
          webhook,
          payment,
          event_type,
          created: world.now,
          resource: shown(payment),
          attempts: [],
          status: 'PENDING',
        }),
      ),
  )
  world.messages.push(...messages)
  // If the process dies during a delivery, later messages to the same webhook are not sent either.
  const stuck = new Set<Webhook>()
  for (const message of messages) {
    if (stuck.has(message.webhook)) continue
    deliver(world, message)
    if (message.status === 'PENDING') stuck.add(message.webhook)
  }
}

/** Makes the possible attempts. A message about a gone payment or to a removed webhook fails. */
export function deliver(world: World, message: Message): void {
  const { attempts, webhook, payment } = message
  while (message.status === 'PENDING' && attempts.length < world.attempts) {
    if (!webhook.active || isGone(world, payment)) message.status = 'FAILED'
    else {
      const attempt = { ...outcome(webhook.manners, attempts.length + 1), at: world.now }
      attempts.push(attempt)
      world.sends.push(message)
      if (attempt.status === 'SUCCESSFUL') message.status = 'SUCCESSFUL'
      else if (attempts.length === 2) message.status = 'FAILED'
    }
  }
}

export const sentBody = ({ name, created, event_type, payment, resource }: Message) => ({
  webhook_message_id: name,
  created_date: iso(created),
  resource_id: payment.name,
  event_type,
  resource,
})

function shownMessage(world: World, message: Message) {
  const { name, event_type, payment, status } = message
  const gone = isGone(world, payment)
  return {
    webhook_message_id: name,
    event_type,
    resource_id: payment.name,
    last_delivery_status: gone && status === 'PENDING' ? 'FAILED' : status,
    attempts: message.attempts.map(({ at, ...rest }) => ({ send_at: iso(at), ...rest })).reverse(),
    body: gone ? null : sentBody(message),
  }
}

export type NewWebhook = {
  account: Account
  manners: Manners
  subscriptions?: readonly string[] | undefined
}

export function register(world: World, { account, manners, subscriptions }: NewWebhook): Step {
  const number = newNumber(world)
  const webhook: Webhook = {
    name: `{webhook-${number}}`,
    account,
    created: world.now,
    callback_url: `https://hooks.example.org/${world.name}/${manners}/${number}`,
    subscriptions: subscriptions ?? eventTypesOf.specification,
    active: true,
    signing_key: `{signing-${number}}`,
    manners,
  }
  world.webhooks.push(webhook)
  const { callback_url, name: external_id, signing_key } = webhook
  const json = { callback_url, subscriptions }
  return {
    request: { method: 'POST', path: '/v1/webhooks', account, json },
    expected: { status: 201, body: { external_id, signing_key, status: 'ACTIVE' } },
  }
}

const webhookPath = (webhook: Webhook | undefined) => `/v1/webhooks/${webhook?.name ?? NO_ID}`

export function removeWebhook(account: Account, webhook: Webhook | undefined): Step {
  const request = { method: 'DELETE', path: webhookPath(webhook), account } as const
  if (webhook?.account !== account) return { request, expected: refusal(404, 'P2700') }
  webhook.active = false
  return { request, expected: { status: 204 } }
}

/** All messages of a webhook on one page, newest first. */
export function readMessages(world: World, account: Account, webhook: Webhook | undefined): Step {
  const request = { method: 'GET', path: `${webhookPath(webhook)}/messages`, account } as const
  if (webhook?.account !== account) return { request, expected: refusal(404, 'P2700') }
  const results = world.messages
    .filter(message => message.webhook === webhook)
    .map(message => shownMessage(world, message))
    .reverse()
  return { request, expected: { status: 200, body: { total: results.length, results } } }
}
