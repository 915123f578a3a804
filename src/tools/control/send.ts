import type { FastifyRequest } from 'fastify'
import { shapes } from '../../pay/webhooks/govuk-pay.ts'
import { findMessage } from '../../pay/webhooks/message-store.ts'
import { webhookMessage } from '../../pay/webhooks/wire.ts'
import { pathParam } from '../../platform/http/endpoint.ts'
import type { Json } from '../../platform/http/fields.ts'
import { json, pathParameter } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import { registrationProblem } from '../../platform/outbound/address.ts'
import type { ToolContext } from '../context.ts'
import {
  damages,
  MOST_TIMES,
  type Resendable,
  resendable,
  type SendAgain,
  sendAgain,
} from '../deliver/send-again.ts'
import { answerToWrong, consequenceOf } from '../explain/wrong-signature.ts'
import type { Exchange } from '../record/exchange.ts'
import { choiceIn, flagIn, integerIn, textIn } from './body.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField, conflict, notFound } from './errors.ts'
import { presentBody } from './requests.ts'
import { answer, identifier, nullable, text } from './schemas.ts'

const sendAgainBody = object(
  'SendAgain',
  {},
  {
    times: { type: 'integer', minimum: 1, maximum: MOST_TIMES },
    at_once: { type: 'boolean', description: 'All at once instead of one by one' },
    body: { ...text, description: 'Another body, which is signed' },
    new_identifier: { type: 'boolean' },
    damage: { ...text, enum: damages },
    as: { ...text, enum: shapes, description: 'As GOV.UK Pay sends it' },
    to: { ...text, description: 'Another address' },
    signing_key: text,
  },
)

const sentAgain = object('SentAgain', {
  results: {
    type: 'array',
    items: {
      type: 'object',
      required: [
        'exchange_id',
        'status',
        'status_code',
        'result',
        'response_time',
        'verdict',
        'sentence',
        'answer',
      ],
      properties: {
        exchange_id: identifier,
        status: webhookMessage.properties.attempts.items.properties.status,
        status_code: { type: ['integer', 'null'] },
        result: text,
        response_time: { type: ['integer', 'null'] },
        verdict: {
          type: ['string', 'null'],
          enum: ['accepted', 'refused', null],
          description:
            'What the receiver made of a wrong signature. null where the signature was right, or nothing follows from the response: a refusal says something only where the newest undamaged send was accepted',
        },
        sentence: { ...nullable, description: 'What follows; null for a message that was taken' },
        answer,
      },
    },
  },
})

/** Sends a message again by hand. The body is optional. */
export const sendMessage = (context: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/messages/{message_id}/send',
    operationId: 'sendMessage',
    summary: 'Send a webhook message again',
    body: sendAgainBody,
    docs: () => ({
      description: 'Sends the kept bytes once more, or changed on purpose.',
      parameters: [pathParameter('message_id', 'A message of the account')],
      responses: { 200: json('What came back', sentAgain) },
      errors: [
        notFound('message'),
        badField('times', 'must be a whole number'),
        conflict('the webhook of this message is INACTIVE: register another one'),
      ],
    }),
    handler: async (request, { body }) => {
      const options = await readSendAgain(body, context)
      const message = await messageInPath(request, context)
      const sent = await sendAgain(context, request.account, message, options)
      return { results: sent.map(presentSend) }
    },
  })

/** The message that the path names. Throws unless its bytes can be sent. */
export async function messageInPath(
  request: FastifyRequest,
  { database, time }: ToolContext,
): Promise<Resendable> {
  const { account } = request
  const found = await findMessage(database, account.room, pathParam(request, 'message_id'))
  if (!found) throw notFound('message')
  const message = resendable(found, time.now(account))
  if ('reason' in message) throw conflict(message.reason)
  return message
}

/** Throws the first error. */
async function readSendAgain(fields: Json, { config, resolve }: ToolContext): Promise<SendAgain> {
  const times = integerIn(fields, 'times', 1, MOST_TIMES) ?? 1
  const damage = choiceIn(fields, 'damage', damages)
  const shape = choiceIn(fields, 'as', shapes, `must be ${shapes.join(' or ')}`)
  if (shape && fields.body !== undefined) throw badField('as', 'must be absent with body')
  const to = textIn(fields, 'to')
  const problem = to !== undefined && (await registrationProblem(to, config.callbackHosts, resolve))
  if (problem) throw badField('to', problem)
  return {
    times,
    atOnce: flagIn(fields, 'at_once'),
    body: textIn(fields, 'body'),
    newIdentifier: flagIn(fields, 'new_identifier'),
    damage,
    as: shape,
    to,
    signingKey: textIn(fields, 'signing_key'),
  }
}

function presentSend(exchange: Exchange) {
  const { exchange_id, refused, status, result = '', ms, by_hand } = exchange
  const { response_headers, response_body } = exchange
  return {
    exchange_id,
    status: refused ? 'FAILED' : 'SUCCESSFUL',
    status_code: status,
    result,
    response_time: ms,
    verdict: answerToWrong(by_hand, status) ?? null,
    sentence: consequenceOf(by_hand, { status, result, answer: response_body }) ?? null,
    answer: { headers: response_headers, ...presentBody(response_body) },
  }
}
