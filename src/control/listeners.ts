import type { FastifyReply, FastifyRequest } from 'fastify'
import { findLivingKey } from '../accounts/store.ts'
import type { Context } from '../context.ts'
import { unknownBearerKey } from '../errors.ts'
import { pathParam } from '../http/endpoint.ts'
import type { Json } from '../http/fields.ts'
import type { AttemptResult } from '../ports.ts'
import { LONGEST_LOOK, labelOf } from '../webhooks/listener.ts'
import { keepListener } from '../webhooks/listener-store.ts'
import { findWebhook, MOST_ACTIVE } from '../webhooks/store.ts'
import { type EventType, eventTypes, eventTypesIn } from '../webhooks/webhook.ts'
import { isWhole, readBody } from './body.ts'
import type { ControlEndpoint } from './docs.ts'
import { badField, notFound, tooMany } from './errors.ts'
import { readQuery, whole } from './query.ts'

/** Milliseconds. */
const LOOK_EVERY = 100
const KEY_EVERY = 900

/** The requests of `farthing listen`. */
export const listenerEndpoints = (context: Context, stopped: () => boolean): ControlEndpoint[] => [
  startListening(context),
  takeNext(context, stopped),
  giveResult(context),
  stopListening(context),
]

const startListening = (context: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/listeners',
  operationId: 'startListening',
  summary: 'Make the webhook of a listener, or find it again',
  accepts: 'json',
  handler: async request => {
    const { name, events = eventTypes } = readBody(request, ['name', 'events'])
    const label = typeof name === 'string' ? labelOf(name) : ''
    if (label === '') throw badField('name', 'must be text with a letter or a digit')
    const kept = await keepListener(context, request.account, label, readEvents(events))
    if (!kept) throw tooMany(`an account has at most ${MOST_ACTIVE} active webhooks: delete one`)
    const { webhook_id, signing_key, other } = kept
    return { webhook_id, signing_key, other }
  },
})

function readEvents(given: unknown): EventType[] {
  const read = eventTypesIn(given)
  if (!read) throw badField('events', `must be a list of ${eventTypes.join(', ')}`)
  return read
}

const listenerInPath = async (request: FastifyRequest, { database }: Context) => {
  const id = pathParam(request, 'webhook_id')
  const found = await findWebhook(database, request.account.room, id)
  if (!found?.listening_until || found.status !== 'ACTIVE') throw notFound('listener')
  return found.webhook_id
}

const known = { wait: whole(0, LONGEST_LOOK) }

const takeNext = (context: Context, stopped: () => boolean): ControlEndpoint => ({
  method: 'GET',
  path: '/control/listeners/{webhook_id}/next',
  operationId: 'takeNextAttempt',
  summary: 'Wait for the next attempt to deliver a message',
  query: known,
  handler: async (request, reply) => {
    const { wait = LONGEST_LOOK } = readQuery(request, known)
    const { listeners } = context
    const webhook_id = await listenerInPath(request, context)
    const ending = createEnding(context, request, reply, { wait, stopped })
    const next = await listeners.next(webhook_id, ending.reached)
    const why = ending.stop()
    if (why === 'gone' || why === 'revoked') await listeners.leave(webhook_id)
    // The listener may connect to another instance, or to this one after its restart.
    if (why === 'stopped') await listeners.leave(webhook_id, 2_000)
    if (why === 'revoked') throw unknownBearerKey()
    return { attempt: next }
  },
})

type Why = 'over' | 'gone' | 'revoked' | 'stopped'

/** Resolves `reached` when the request must end without an attempt; `stop` returns the reason. */
function createEnding(
  { database, config }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { wait, stopped }: { wait: number; stopped: () => boolean },
) {
  let why: Why | undefined
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  const end = (reason: Why) => {
    why ??= reason
    resolve()
  }
  const left = () => !reply.raw.writableFinished && end('gone')
  reply.raw.once('close', left)
  const timers = [
    setTimeout(() => end('over'), wait),
    setInterval(() => stopped() && end('stopped'), LOOK_EVERY),
    setInterval(async () => {
      const living = findLivingKey(database, request.key_id, config.apiKey)
      // An unreachable database says nothing about the key.
      if ((await living.catch(() => 'unknown')) === undefined) end('revoked')
    }, KEY_EVERY),
  ]
  return {
    reached,
    stop: (): Why | undefined => {
      for (const timer of timers) clearTimeout(timer)
      reply.raw.removeListener('close', left)
      return why
    },
  }
}

const FIELDS = ['attempt_id', 'status_code', 'response_time', 'result', 'headers', 'body', 'size']
const LONGEST_RESULT = 200
const LONGEST_TIME = 60_000

const giveResult = (context: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/listeners/{webhook_id}/results',
  operationId: 'giveAttemptResult',
  summary: 'Report the result of an attempt to deliver a message',
  accepts: 'json',
  handler: async (request, reply) => {
    const given = readBody(request, FIELDS)
    const result = readResult(given)
    const webhook_id = await listenerInPath(request, context)
    if (!context.listeners.answer(webhook_id, String(given.attempt_id), result))
      throw notFound('attempt that this instance waits for')
    return reply.code(204).send()
  },
})

function readResult(given: Json): AttemptResult {
  const { status_code, response_time = null, result } = given
  if (status_code !== null && !isWhole(status_code, 100, 599))
    throw badField('status_code', 'must be null or a status from 100 to 599')
  if (response_time !== null && !isWhole(response_time, 0, LONGEST_TIME))
    throw badField('response_time', 'must be null or whole milliseconds')
  if (typeof result !== 'string' || !/^\P{Cc}*$/u.test(result) || result.length > LONGEST_RESULT)
    throw badField('result', `must be text of at most ${LONGEST_RESULT} characters`)
  const delivered = status_code !== null && status_code >= 200 && status_code <= 299
  return {
    ...{ status: delivered ? 'SUCCESSFUL' : 'FAILED', status_code, response_time, result },
    ...(status_code !== null && { answer: Promise.resolve(readAnswer(given)) }),
  }
}

/** `body` is base64; `headers` are pairs of name and value. */
function readAnswer({ headers = [], body = '', size }: Json) {
  const isPair = (pair: unknown): pair is [string, string] =>
    Array.isArray(pair) && pair.length === 2 && pair.every(each => typeof each === 'string')
  if (!Array.isArray(headers) || !headers.every(isPair))
    throw badField('headers', 'must be a list of pairs of name and value')
  if (typeof body !== 'string') throw badField('body', 'must be base64')
  const bytes = Buffer.from(body, 'base64')
  return {
    ...{ headers, body: bytes, sent: {} },
    size: Number.isSafeInteger(size) ? Math.max(Number(size), bytes.length) : bytes.length,
  }
}

const stopListening = (context: Context): ControlEndpoint => ({
  method: 'DELETE',
  path: '/control/listeners/{webhook_id}',
  operationId: 'stopListening',
  summary: 'Report that the listener has stopped',
  handler: async (request, reply) => {
    await context.listeners.leave(await listenerInPath(request, context))
    return reply.code(204).send()
  },
})
