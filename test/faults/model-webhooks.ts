/** Webhooks, their messages and how these are delivered: SPEC *Webhook event types* and *Delivery rules*. */
import {
  type Account,
  answer,
  isGone,
  iso,
  NO_ID,
  newNumber,
  refusal,
  type Step,
  type World,
} from './model.ts'
import { type Payment, shown } from './model-payments.ts'
import { type PageQuery, searchPage } from './model-search.ts'

/** How a receiver behaves: it takes everything, nothing, or each message at the second attempt. */
export type Manners = 'accepts' | 'refuses' | 'hesitates'

export type Webhook = {
  name: string
  account: Account
  created: number
  callback_url: string
  description?: string | undefined
  subscriptions: string[]
  active: boolean
  signing_key: string
  manners: Manners
}

type Attempt = {
  at: number
  status: 'SUCCESSFUL' | 'FAILED'
  status_code: number | null
  response_time: number
  result: string
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
  attempts: Attempt[]
  status: 'PENDING' | 'SUCCESSFUL' | 'FAILED'
}

export const eventTypes = [
  'succeeded',
  'captured',
  'refunded',
  'failed',
  'cancelled',
  'settled',
].map(name => `card_payment_${name}`)

const accepted = {
  status: 'SUCCESSFUL',
  status_code: 202,
  response_time: 41,
  result: '202 Accepted',
}
const refused = { status: 'FAILED', status_code: 500, response_time: 7, result: '500 Oops' }
const timeout = { status: 'FAILED', status_code: null, response_time: 2001, result: 'timeout' }

/** How the receiver takes the nth attempt of a message, counted from 1. */
export function outcome(manners: Manners, nth: number): Omit<Attempt, 'at'> {
  const taken = manners === 'accepts' || (manners === 'hesitates' && nth > 1)
  const refusedAs = manners === 'hesitates' ? timeout : refused
  return (taken ? accepted : refusedAs) as Omit<Attempt, 'at'> // the three constants above
}

/** Writes a message for each webhook that is active and subscribed, and delivers it where that is possible. */
export function tell(world: World, payment: Payment, names: string[]): void {
  const webhooks = world.webhooks.filter(
    ({ account, active }) => active && account === payment.account,
  )
  const messages = names
    .map(name => `card_payment_${name}`)
    .flatMap(event_type =>
      webhooks
        .filter(({ subscriptions }) => subscriptions.includes(event_type))
        .map((webhook): Message => {
          const name = `{message-${newNumber(world)}}`
          const resource = shown(payment)
          const { now: created } = world
          const state = { attempts: [], status: 'PENDING' } as const
          return { name, webhook, payment, event_type, created, resource, ...state, attempts: [] }
        }),
    )
  world.messages.push(...messages)
  // Who died over one message sends its webhook nothing after it.
  const kept = new Set<Webhook>()
  for (const message of messages) {
    if (kept.has(message.webhook)) continue
    deliver(world, message)
    if (message.status === 'PENDING') kept.add(message.webhook)
  }
}

/** As many attempts as can be made; none for what is gone or was deactivated. */
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

/** The exact content of a message. */
export const sentBody = ({ name, created, event_type, payment, resource }: Message) => ({
  webhook_message_id: name,
  api_version: 1,
  created_date: iso(created),
  resource_id: payment.name,
  resource_type: 'payment',
  event_type,
  resource,
})

const listed = (webhook: Webhook) => ({
  external_id: webhook.name,
  callback_url: webhook.callback_url,
  description: webhook.description,
  subscriptions: webhook.subscriptions,
  status: webhook.active ? 'ACTIVE' : 'INACTIVE',
  created_date: iso(webhook.created),
})

const shownWebhook = (webhook: Webhook) => ({
  ...listed(webhook),
  signing_key: webhook.signing_key,
})

function shownMessage(world: World, message: Message) {
  const { name, created, event_type, payment, status } = message
  const attempts = message.attempts
    .map(({ at, ...rest }) => ({ created_date: iso(at), send_at: iso(at), ...rest }))
    .reverse()
  const gone = isGone(world, payment)
  return {
    webhook_message_id: name,
    external_id: name,
    created_date: iso(created),
    event_date: iso(created),
    event_type,
    resource_id: payment.name,
    resource_type: 'payment',
    last_delivery_status: gone && status === 'PENDING' ? 'FAILED' : status,
    latest_attempt: attempts[0] ?? null,
    attempts,
    body: gone ? null : sentBody(message),
  }
}

export type NewWebhook = {
  account: Account
  manners: Manners
  description?: string | undefined
  subscriptions?: string[] | undefined
  /** In place of a good address. */
  badUrl?: string | undefined
}

/** POST /v1/webhooks. */
export function register(world: World, wanted: NewWebhook): Step {
  const { account, manners, description, subscriptions, badUrl } = wanted
  const number = newNumber(world)
  const callback_url = badUrl ?? `https://hooks.example.org/${world.name}/${manners}/${number}`
  const json = { callback_url, description, subscriptions }
  const request = { method: 'POST', path: '/v1/webhooks', account, json } as const
  if (badUrl !== undefined) {
    const code = badUrl.trim() ? 'P0102' : 'P0101'
    return { request, expected: refusal(422, code, { field: 'callback_url' }) }
  }
  if (subscriptions?.length === 0)
    return { request, expected: refusal(422, 'P0102', { field: 'subscriptions' }) }
  const webhook: Webhook = {
    name: `{webhook-${number}}`,
    account,
    created: world.now,
    callback_url,
    description,
    subscriptions: [...new Set(subscriptions ?? eventTypes)],
    active: true,
    signing_key: `{signing-${number}}`,
    manners,
  }
  world.webhooks.push(webhook)
  return { request, expected: answer(201, shownWebhook(webhook)) }
}

const noWebhook = refusal(404, 'P2700')

const pathOf = (webhook: Webhook | undefined) => `/v1/webhooks/${webhook?.name ?? NO_ID}`

export function readWebhook(account: Account, webhook: Webhook | undefined): Step {
  const request = { method: 'GET', path: pathOf(webhook), account } as const
  const known = webhook?.account === account
  return { request, expected: known ? answer(200, shownWebhook(webhook)) : noWebhook }
}

export function removeWebhook(account: Account, webhook: Webhook | undefined): Step {
  const request = { method: 'DELETE', path: pathOf(webhook), account } as const
  if (webhook?.account !== account) return { request, expected: noWebhook }
  webhook.active = false
  return { request, expected: answer(204) }
}

export function searchWebhooks(world: World, account: Account, query: PageQuery): Step {
  const found = world.webhooks.filter(webhook => webhook.account === account).map(listed)
  return searchPage({ path: '/v1/webhooks', codes: ['P2701', 'P2702'], account, query, found })
}

export function readMessages(
  world: World,
  account: Account,
  webhook: Webhook | undefined,
  query: PageQuery,
): Step {
  const found = world.messages
    .filter(message => message.webhook === webhook)
    .map(message => shownMessage(world, message))
  const path = `${pathOf(webhook)}/messages`
  const step = searchPage({ path, codes: ['P2701', 'P2702'], account, query, found })
  const known = webhook?.account === account || step.expected.status === 422
  return known ? step : { ...step, expected: noWebhook }
}
