import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import { unknownBearerKey } from '../../core/errors.ts'
import { isSuccess } from '../../core/http-status.ts'
import { ended, revoked } from '../../core/signal.ts'
import { text as anyText, either, integer, only } from '../../core/values.ts'
import { LONGEST_REQUEST, labelOf, RECONNECT_TIME } from '../../pay/webhooks/listener.ts'
import { findWebhook } from '../../pay/webhooks/store.ts'
import { eventTypes, eventTypesIn, eventTypesOf } from '../../pay/webhooks/webhook.ts'
import { parameter } from '../../platform/http/query.ts'
import { object } from '../../platform/http/schema.ts'
import { reasons } from '../../platform/outbound/send.ts'
import type { ToolContext } from '../context.ts'
import { keepListener } from '../deliver/listener-store.ts'
import { endAttempt, giveBack, leave, waitForAttempt } from '../deliver/listeners.ts'
import { badField, conflict, notFound, tooMany } from '../steer/errors.ts'
import { body } from '../steer/fields.ts'
import { headers, identifier, text } from '../steer/schemas.ts'
import { type ControlContext, defineEndpoint } from './endpoint.ts'
import { tooManyWaits } from './wait.ts'

const named = {
  schema: { ...text, description: 'Has a letter or a digit' },
  rule: 'text with a letter or a digit',
  read: (input: unknown) => (typeof input === 'string' && labelOf(input)) || undefined,
}
const events = {
  schema: {
    type: ['array', 'null'],
    items: { type: 'string', enum: eventTypes },
    description:
      'null: all. Without it those of a listener with this name that is connected, or all',
  },
  rule: `null or a list of ${eventTypes.join(', ')}`,
  read: (input: unknown) =>
    input === null
      ? null
      : (eventTypesIn(input, 'specification') ?? eventTypesIn(input, 'govuk-pay')),
}

const listener = object('Listener', {
  webhook_id: identifier,
  signing_key: text,
  other: { type: 'boolean', description: 'Whether another listener with this name is connected' },
})

const hasAll = () =>
  tooMany(`an account has at most ${ACTIVE_WEBHOOKS} active webhooks: delete one`)

const isTaken = () =>
  conflict(
    'a listener with this name is connected, and receives other event types: choose another name',
  )

const A_LISTENER = 'A listener of the account'

export const startListening = defineEndpoint({
  route: 'POST /control/listeners',
  operationId: 'startListening',
  summary: 'Make the webhook of a listener, or find it again',
  body: body('NewListener', { events }, { name: named }),
  response: [200, 'The listener', listener],
  errors: () => [badField('name', `must be ${named.rule}`), hasAll(), isTaken()],
  async handler(context, { account, body: { name, events } }) {
    const known = eventTypesOf[account.behaviour]
    if (events?.some(type => !known.includes(type)))
      throw badField('events', `must be a list of ${known.join(', ')}`)
    const wanted = events === null ? known : events
    const webhook = await keepListener(context, account, name, wanted)
    if (!webhook) throw hasAll()
    if (webhook === 'taken') throw isTaken()
    const { webhook_id, signing_key, other } = webhook
    return { webhook_id, signing_key, other }
  },
})

const findListener = async ({ database }: ToolContext, { room }: Account, id: string) => {
  const found = await findWebhook(database, room, id)
  // The command of a listener that was retired registers again.
  if (!found?.listening_until) throw notFound('listener')
  if (found.status !== 'ACTIVE') throw deleted()
  return found
}

const deleted = () => conflict('the webhook of this listener was deleted: start to listen again')

const nextAttempt = object('NextAttempt', {
  attempt: {
    type: ['object', 'null'],
    description: 'null if there was none in time',
    required: ['attempt_id', 'message_id', 'headers', 'body'],
    properties: { attempt_id: text, message_id: identifier, headers, body: text },
  },
})

export const takeNext = defineEndpoint({
  route: 'GET /control/listeners/{webhook_id}/next',
  operationId: 'takeNextAttempt',
  summary: 'Wait for the next attempt to deliver a message',
  query: { wait: parameter(integer(0, LONGEST_REQUEST), 'Milliseconds to wait for an attempt') },
  inPath: A_LISTENER,
  response: [200, 'The attempt', nextAttempt],
  errors: () => [notFound('listener'), deleted(), tooManyWaits()],
  async handler(context, { account, query: { wait = LONGEST_REQUEST }, id, request, reply }) {
    const webhook = await findListener(context, account, id)
    const { ending, stop } = createEnding(context, request, reply, wait)
    const attempt = await waitForAttempt(context, webhook, { wait, ending }).finally(stop)
    const reason: EndReason | undefined = ending.reason
    const isLost = reason === 'gone' || reason === 'revoked'
    if (attempt && isLost) await giveBack(context, webhook, attempt)
    // The listener may ask again: another instance, this one after its restart, or after a proxy has cut it off.
    if (reason === 'gone' || reason === 'stopped') await leave(context, webhook, RECONNECT_TIME)
    if (reason === 'revoked') {
      await leave(context, webhook, 0)
      throw unknownBearerKey()
    }
    return { attempt }
  },
})

type EndReason = 'over' | 'gone' | 'revoked' | 'stopped'

/** Throws as `takePlace` does. `ending` is aborted, with an `EndReason`, when the request must end without an attempt. */
function createEnding(
  { config, stopped, takePlace, signals, watch }: ControlContext,
  { account, key_id }: FastifyRequest,
  reply: FastifyReply,
  wait: number,
) {
  const leavePlace = takePlace(account)
  const ending = new AbortController()
  const end = (reason: EndReason) => ending.abort(stopped() ? 'stopped' : reason)
  const left = () => !reply.raw.writableFinished && end('gone')
  reply.raw.once('close', left)
  if (reply.raw.destroyed) left()
  const timer = setTimeout(() => end('over'), wait)
  const { room } = account
  const isFixed = config.fixedKeys.some(key => key.key_id === key_id)
  const offs = [
    // After a reset the account has no webhook of this listener any more.
    signals.on([ended(room)], () => end('over')),
    signals.on([revoked(key_id)], () => end('revoked')),
    watch.join({ room, listens: true, key_id: isFixed ? undefined : key_id }),
  ]
  return {
    ending: ending.signal,
    stop() {
      clearTimeout(timer)
      for (const off of offs) off()
      reply.raw.removeListener('close', left)
      leavePlace()
    },
  }
}

const LONGEST_RESULT = 200
const LONGEST_TIME = 60_000

const wholeOrNull = (least: number, most: number) => either(only(null), integer(least, most))

const isPair = (pair: unknown): pair is [name: string, value: string] =>
  Array.isArray(pair) && pair.length === 2 && pair.every(value => typeof value === 'string')

export const giveResult = defineEndpoint({
  route: 'POST /control/listeners/{webhook_id}/results',
  operationId: 'giveAttemptResult',
  summary: 'Report the result of an attempt to deliver a message',
  body: body(
    'AttemptResult',
    {
      response_time: wholeOrNull(0, LONGEST_TIME),
      headers: {
        schema: { type: 'array', items: { type: 'array', items: text }, description: 'Pairs' },
        rule: 'a list of pairs of name and value',
        read: (input: unknown) => (Array.isArray(input) && input.every(isPair) ? input : undefined),
      },
      body: anyText({ description: 'In base64' }, 'base64'),
      size: integer(0, Number.MAX_SAFE_INTEGER),
      cause: anyText(
        { description: 'The code of an error, such as ECONNREFUSED; only recorded' },
        'upper-case letters, digits and underscores',
        /^[A-Z0-9_]{1,60}$/,
      ),
    },
    {
      attempt_id: anyText({}, 'text without U+0000', /^[^\0]*$/),
      status_code: wholeOrNull(100, 599),
      result: anyText(
        {},
        `text of at most ${LONGEST_RESULT} characters`,
        new RegExp(`^\\P{Cc}{0,${LONGEST_RESULT}}$`, 'u'),
      ),
    },
  ),
  inPath: A_LISTENER,
  response: [204, 'The attempt has this result'],
  errors: () => [notFound('listener'), badField('result', 'must be text')],
  async handler(context, { account: { room }, body, id: webhook_id }) {
    const { attempt_id, status_code, response_time = null, result, cause } = body
    if (status_code === null && !reasons.some(reason => reason === result))
      throw badField('result', `must be one of ${reasons.join(', ')}, as there is no status_code`)
    const { headers = [], body: response = '', size = 0 } = body
    const { length } = Buffer.from(response, 'base64')
    const isKnown = await endAttempt(
      context,
      { room, webhook_id, attempt_id },
      {
        status: isSuccess(status_code) ? 'SUCCESSFUL' : 'FAILED',
        status_code,
        response_time,
        result,
        ...(cause !== undefined && { cause }),
        ...(status_code !== null && {
          answer: { headers, body: response, size: Math.max(size, length) },
        }),
      },
    )
    if (!isKnown) throw notFound('attempt that waits for its result')
  },
})

export const stopListening = defineEndpoint({
  route: 'DELETE /control/listeners/{webhook_id}',
  operationId: 'stopListening',
  summary: 'Report that the listener has stopped',
  inPath: A_LISTENER,
  response: [204, 'Nobody listens any more'],
  errors: () => [notFound('listener'), deleted()],
  handler: async (context, { account, id }) =>
    leave(context, await findListener(context, account, id), 0),
})
