import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import { unknownBearerKey } from '../../core/errors.ts'
import { isSuccess } from '../../core/http-status.ts'
import { createSignal } from '../../core/signal.ts'
import { LONGEST_REQUEST, labelOf, RECONNECT_TIME } from '../../pay/webhooks/listener.ts'
import { findWebhook } from '../../pay/webhooks/store.ts'
import { type EventType, eventTypes, eventTypesIn } from '../../pay/webhooks/webhook.ts'
import { accountOfName, findLivingKey } from '../../platform/accounts/store.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import type { Json } from '../../platform/http/fields.ts'
import { whole } from '../../platform/http/query.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { keepListener } from '../deliver/listener-store.ts'
import {
  endAttempt,
  giveBack,
  type ListenerAnswer,
  leave,
  waitForAttempt,
} from '../deliver/listeners.ts'
import { isWhole } from './body.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField, conflict, notFound, tooMany } from './errors.ts'
import { count, headers, identifier, text } from './schemas.ts'
import { as } from './webhooks.ts'

/** Milliseconds between two checks whether the service stops, and whether the key is still good. */
const STOP_CHECK_INTERVAL = 100
const KEY_CHECK_INTERVAL = 900

export const listenerEndpoints = (context: ToolContext, stopped: () => boolean): Endpoint[] => [
  startListening(context),
  takeNext(context, stopped),
  giveResult(context),
  stopListening(context),
]

const newListener = object(
  'NewListener',
  { name: { ...text, description: 'Has a letter or a digit' } },
  { events: { type: 'array', items: { type: 'string', enum: eventTypes } } },
)

const listener = object('Listener', {
  webhook_id: identifier,
  signing_key: text,
  other: { type: 'boolean', description: 'Whether another listener with this name is connected' },
  as,
})

const badName = () => badField('name', 'must be text with a letter or a digit')
const hasAll = () =>
  tooMany(`an account has at most ${ACTIVE_WEBHOOKS} active webhooks: delete one`)

const A_LISTENER = 'A listener of the account'

const startListening = (context: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/listeners',
    operationId: 'startListening',
    summary: 'Make the webhook of a listener, or find it again',
    body: newListener,
    response: [200, 'The listener', listener],
    errors: () => [badName(), hasAll()],
    handler: async (request, { body }) => {
      const { name, events = eventTypes } = body
      const label = typeof name === 'string' ? labelOf(name) : ''
      if (label === '') throw badName()
      const webhook = await keepListener(context, request.account, label, readEvents(events))
      if (!webhook) throw hasAll()
      const { webhook_id, signing_key, other, as = null } = webhook
      return { webhook_id, signing_key, other, as }
    },
  })

function readEvents(events: unknown): EventType[] {
  const read = eventTypesIn(events)
  if (!read) throw badField('events', `must be a list of ${eventTypes.join(', ')}`)
  return read
}

const findListener = async ({ database }: ToolContext, { room }: Account, id: string) => {
  const found = await findWebhook(database, room, id)
  // One that was retired registers again.
  if (!found?.listening_until) throw notFound('listener')
  if (found.status !== 'ACTIVE') throw deleted()
  return found
}

const deleted = () => conflict('the webhook of this listener was deleted: start to listen again')

const parameters = { wait: whole(0, LONGEST_REQUEST, 'Milliseconds to wait for an attempt') }

const nextAttempt = object('NextAttempt', {
  attempt: {
    type: ['object', 'null'],
    description: 'null if there was none in time',
    required: ['attempt_id', 'message_id', 'headers', 'body'],
    properties: { attempt_id: text, message_id: identifier, headers, body: text },
  },
})

const takeNext = (context: ToolContext, stopped: () => boolean) =>
  defineEndpoint({
    method: 'GET',
    path: '/control/listeners/{webhook_id}/next',
    operationId: 'takeNextAttempt',
    summary: 'Wait for the next attempt to deliver a message',
    query: parameters,
    inPath: A_LISTENER,
    response: [200, 'The attempt', nextAttempt],
    errors: () => [notFound('listener'), deleted()],
    handler: async (request, { query: { wait = LONGEST_REQUEST }, id }, reply) => {
      const webhook = await findListener(context, request.account, id)
      const ending = createEnding(context, request, reply, { wait, stopped })
      const attempt = await waitForAttempt(context, webhook, { wait, ...ending })
      const why = ending.stop()
      const isLost = why === 'gone' || why === 'revoked'
      if (attempt && isLost) await giveBack(context, webhook, attempt)
      // The listener may ask again: another instance, this one after its restart, or after a proxy has cut it off.
      if (why === 'gone' || why === 'stopped') await leave(context, webhook, RECONNECT_TIME)
      if (why === 'revoked') {
        await leave(context, webhook, 0)
        throw unknownBearerKey()
      }
      return { attempt }
    },
  })

type EndReason = 'over' | 'gone' | 'revoked' | 'stopped'

/** Sets the signal when the request must end without an attempt; `stop` returns the reason. */
function createEnding(
  { database, config }: ToolContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { wait, stopped }: { wait: number; stopped: () => boolean },
) {
  let why: EndReason | undefined
  const signal = createSignal()
  const end = (reason: EndReason) => {
    why ??= reason
    signal.set()
  }
  const left = () => !reply.raw.writableFinished && end('gone')
  reply.raw.once('close', left)
  if (reply.raw.destroyed) left()
  const timers = [
    setTimeout(() => end('over'), wait),
    setInterval(() => stopped() && end('stopped'), STOP_CHECK_INTERVAL),
    setInterval(async () => {
      try {
        const key = await findLivingKey(database, request.key_id, config.fixedKeys)
        if (!key) return end('revoked')
        const account = await accountOfName(database, key.account)
        // After a reset the account has no webhook of this listener any more.
        if (account?.room !== request.account.room) end('over')
      } catch {
        // An unreachable database says nothing about the key.
      }
    }, KEY_CHECK_INTERVAL),
  ]
  return {
    signal,
    mustReturn: () => why !== undefined,
    stop: (): EndReason | undefined => {
      for (const timer of timers) clearTimeout(timer)
      reply.raw.removeListener('close', left)
      return why
    },
  }
}

const attemptResult = object(
  'AttemptResult',
  { attempt_id: text, status_code: { type: ['integer', 'null'] }, result: text },
  {
    response_time: { type: ['integer', 'null'] },
    headers: { type: 'array', items: { type: 'array', items: text }, description: 'Pairs' },
    body: { ...text, description: 'In base64' },
    size: count,
    cause: { ...text, description: 'The code of an error, such as ECONNREFUSED; only recorded' },
  },
)
const LONGEST_RESULT = 200
const REASONS: unknown[] = [
  'timeout',
  'connection failed',
  'tls failed',
  'name not resolved',
  'address refused',
]
const CAUSE = /^[A-Z0-9_]{1,60}$/
const LONGEST_TIME = 60_000

const giveResult = (context: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/listeners/{webhook_id}/results',
    operationId: 'giveAttemptResult',
    summary: 'Report the result of an attempt to deliver a message',
    body: attemptResult,
    inPath: A_LISTENER,
    response: [204, 'The attempt has this result'],
    errors: () => [notFound('listener'), badField('result', 'must be text')],
    handler: async ({ account: { room } }, { body, id: webhook_id }) => {
      const result = readResult(body)
      const key = { room, webhook_id, attempt_id: String(body.attempt_id) }
      if (!(await endAttempt(context, key, result)))
        throw notFound('attempt that waits for its result')
    },
  })

function readResult(body: Json): ListenerAnswer {
  const { status_code, response_time = null, result, cause } = body
  if (status_code !== null && !isWhole(status_code, 100, 599))
    throw badField('status_code', 'must be null or a status from 100 to 599')
  if (response_time !== null && !isWhole(response_time, 0, LONGEST_TIME))
    throw badField('response_time', 'must be null or whole milliseconds')
  if (typeof result !== 'string' || !/^\P{Cc}*$/u.test(result) || result.length > LONGEST_RESULT)
    throw badField('result', `must be text of at most ${LONGEST_RESULT} characters`)
  if (status_code === null && !REASONS.includes(result))
    throw badField('result', `must be one of ${REASONS.join(', ')}, as there is no status_code`)
  if (cause !== undefined && (typeof cause !== 'string' || !CAUSE.test(cause)))
    throw badField('cause', 'must be upper-case letters, digits and underscores')
  return {
    status: isSuccess(status_code) ? 'SUCCESSFUL' : 'FAILED',
    status_code,
    response_time,
    result,
    ...(cause !== undefined && { cause }),
    ...(status_code !== null && { answer: readAnswer(body) }),
  }
}

/** `body` is base64; `headers` are pairs of name and value. */
function readAnswer({ headers = [], body = '', size }: Json) {
  const isPair = (pair: unknown): pair is [string, string] =>
    Array.isArray(pair) && pair.length === 2 && pair.every(each => typeof each === 'string')
  if (!Array.isArray(headers) || !headers.every(isPair))
    throw badField('headers', 'must be a list of pairs of name and value')
  if (typeof body !== 'string') throw badField('body', 'must be base64')
  const { length } = Buffer.from(body, 'base64')
  return {
    headers,
    body,
    size: Number.isSafeInteger(size) ? Math.max(Number(size), length) : length,
  }
}

const stopListening = (context: ToolContext) =>
  defineEndpoint({
    method: 'DELETE',
    path: '/control/listeners/{webhook_id}',
    operationId: 'stopListening',
    summary: 'Report that the listener has stopped',
    inPath: A_LISTENER,
    response: [204, 'Nobody listens any more'],
    errors: () => [notFound('listener'), deleted()],
    handler: async ({ account }, { id }) =>
      leave(context, await findListener(context, account, id), 0),
  })
