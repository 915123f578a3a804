import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { pathParam } from '../http/endpoint.ts'
import { registrationProblem } from '../outbound/address.ts'
import type { Exchange } from '../recorder/exchange.ts'
import { findMessage } from '../webhooks/message-store.ts'
import {
  type Damage,
  damages,
  MOST_TIMES,
  type Resendable,
  resendable,
  type SendAgain,
  sendAgain,
} from '../webhooks/send-again.ts'
import { flagIn, readBody, textIn, wholeIn } from './body.ts'
import type { ControlEndpoint } from './docs.ts'
import { badField, conflict, notFound } from './errors.ts'
import { presentBody } from './requests.ts'

const FIELDS = ['times', 'at_once', 'body', 'new_identifier', 'damage', 'to', 'signing_key']

/** Sends a message again by hand. The body is optional. */
export const sendMessage = (context: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/messages/{message_id}/send',
  operationId: 'sendMessage',
  summary: 'Send a webhook message again',
  accepts: 'json',
  handler: async request => {
    const asked = await readSendAgain(request, context)
    const message = await messageInPath(request, context)
    const sent = await sendAgain(context, request.account, message, asked)
    return { results: sent.map(present) }
  },
})

async function messageInPath(
  request: FastifyRequest,
  { database, time }: Context,
): Promise<Resendable> {
  const { account } = request
  const found = await findMessage(database, account.room, pathParam(request, 'message_id'))
  if (!found) throw notFound('message')
  const message = resendable(found, time.now(account))
  if ('whyNot' in message) throw conflict(message.whyNot)
  return message
}

/** Throws the first fault. */
async function readSendAgain(
  request: FastifyRequest,
  { config, resolve }: Context,
): Promise<SendAgain> {
  const given = readBody(request, FIELDS)
  const times = wholeIn(given, 'times', 1, MOST_TIMES) ?? 1
  const { damage } = given
  if (damage !== undefined && !damages.some(known => known === damage))
    throw badField('damage', `must be one of ${damages.join(', ')}`)
  const to = textIn(given, 'to')
  const problem = to !== undefined && (await registrationProblem(to, config.callbackHosts, resolve))
  if (problem) throw badField('to', problem)
  return {
    times,
    atOnce: flagIn(given, 'at_once'),
    body: textIn(given, 'body'),
    newIdentifier: flagIn(given, 'new_identifier'),
    damage: damage as Damage | undefined, // checked above
    to,
    signingKey: textIn(given, 'signing_key'),
  }
}

function present(exchange: Exchange) {
  const { exchange_id, refused, status, result, ms, response_headers, response_body } = exchange
  return {
    exchange_id,
    status: refused ? 'FAILED' : 'SUCCESSFUL',
    status_code: status,
    result,
    response_time: ms,
    answer: { headers: response_headers, ...presentBody(response_body) },
  }
}
