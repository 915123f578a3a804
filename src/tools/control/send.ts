import type { Account } from '../../core/account.ts'
import { text as anyText, boolean, integer, oneOf } from '../../core/values.ts'
import { version } from '../../core/version.ts'
import { findMessage } from '../../pay/webhooks/message-store.ts'
import { findWebhook } from '../../pay/webhooks/store.ts'
import { anyWebhook } from '../../pay/webhooks/wire.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { ALREADY_SENDING } from '../deliver/resend.ts'
import {
  damages,
  MOST_TIMES,
  resendable,
  sendAgain,
  WEBHOOK_INACTIVE,
} from '../deliver/send-again.ts'
import { askReceiver } from '../explain/check/ask.ts'
import { MOST_COPIES } from '../explain/check/find-mistake.ts'
import { probeReceiver } from '../explain/check/probe.ts'
import { MOST_POSTS } from '../explain/check/probing.ts'
import { adviceText } from '../explain/signature/advice.ts'
import { answerToWrong, consequenceOf } from '../explain/wrong-signature.ts'
import type { Exchange } from '../record/exchange.ts'
import { badField, conflict, notFound } from '../steer/errors.ts'
import { body } from '../steer/fields.ts'
import { answer, count, identifier, nullable, text } from '../steer/schemas.ts'
import { finding } from './check.ts'
import { defineEndpoint } from './endpoint.ts'
import { presentBody } from './requests.ts'

const sentAgain = object('SentAgain', {
  results: {
    type: 'array',
    items: object('Sent', {
      exchange_id: identifier,
      status: anyWebhook.webhookMessage.properties.attempts.items.properties.status,
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
    }),
  },
})

export const sendMessage = defineEndpoint({
  route: 'POST /control/messages/{message_id}/send',
  operationId: 'sendMessage',
  summary: 'Send a webhook message again',
  body: body('SendAgain', {
    times: integer(1, MOST_TIMES),
    body: anyText({ description: 'Another body, which is signed' }),
    new_identifier: boolean(),
    damage: oneOf(damages),
    signing_key: anyText({}),
  }),
  description: 'Sends the kept bytes once more, or changed on purpose.',
  inPath: 'A message of the account',
  response: [200, 'What came back', sentAgain],
  errors: () => [
    notFound('message'),
    badField('times', 'must be a whole number'),
    conflict(WEBHOOK_INACTIVE),
  ],
  async handler(context, { account, body, id }) {
    const message = await resendableOf(context, account, id)
    const sent = await sendAgain(context, account, message, body)
    return { results: sent.map(presentSend) }
  },
})

/** The message with this identifier. Throws unless its bytes can be sent. */
async function resendableOf({ database, time }: ToolContext, account: Account, id: string) {
  const found = await findMessage(database, account.room, id)
  if (!found) throw notFound('message')
  const message = resendable(found, { account, now: time.now(account) })
  if ('reason' in message) throw conflict(message.reason)
  return message
}

function presentSend(exchange: Exchange) {
  const { exchange_id, refused, status, result = '', ms } = exchange
  const { response_headers, response_body } = exchange
  return {
    exchange_id,
    status: refused ? 'FAILED' : 'SUCCESSFUL',
    status_code: status,
    result,
    response_time: ms,
    verdict: answerToWrong(exchange) ?? null,
    sentence: consequenceOf(exchange) ?? null,
    answer: { headers: response_headers, ...presentBody(response_body) },
  }
}

const askedReceiver = object('AskedReceiver', {
  message_id: identifier,
  cause: {
    ...text,
    description:
      '`accepts`, `checks-nothing`, `compared-wrongly`, `not-the-signature`, `other-answer`, `unsteady`, `stopped`, `unknown`, or the mistake, such as `body:printed-python`, `key:newline` or `digest:base64`',
  },
  sentence: text,
  advice: { ...text, description: 'What to change, with a line for each framework' },
  posts: { ...count, maximum: MOST_COPIES, description: 'How many copies were sent' },
  evidence: {
    type: 'array',
    items: identifier,
    description: 'The recorded copies that show it, each at /console/requests/{id}',
  },
})

export const askAboutMessage = defineEndpoint({
  route: 'POST /control/messages/{message_id}/ask',
  operationId: 'askReceiver',
  summary: 'Ask the receiver of a message how it checks signatures',
  description: `For a message that its receiver refuses with 400, 401 or 403. First looks at the response to the newest attempt: if that holds 64 hexadecimal digits that a known mistake explains, nothing is sent. Otherwise sends copies of it to the address of its webhook: the right one, one that is signed with a random key, one with each other signing key of the account, the newest first, and then one for each known mistake, until one is accepted. At most ${MOST_COPIES}, one after the other, within 30 seconds. Each is recorded and marked \`asked\`. The message, its attempts and its payment stay as they are.`,
  inPath: 'A message of the account',
  response: [200, 'What the receiver checks', askedReceiver],
  errors: () => [notFound('message'), conflict(WEBHOOK_INACTIVE), conflict(ALREADY_SENDING)],
  async handler(context, { account, id, isAbandoned }) {
    const message = await resendableOf(context, account, id)
    const asking = { by: 'control', isAbandoned } as const
    const result = await askReceiver(context, account, message, asking)
    if (!result) throw conflict(ALREADY_SENDING)
    return { message_id: id, ...result, advice: adviceText(result.advice) }
  },
})

const probed = object('Probed', {
  version: { ...text, description: 'The version of this Farthing' },
  webhook_id: identifier,
  posts: { ...count, maximum: MOST_POSTS, description: 'How many messages were sent' },
  findings: { type: 'array', items: finding, description: 'R1 to R11, in this order' },
})

const inactive = () => conflict('the webhook is INACTIVE: register another one')

export const probeWebhook = defineEndpoint({
  route: 'POST /control/webhooks/{webhook_id}/probe',
  operationId: 'probeReceiver',
  summary: 'Probe the receiver of a webhook',
  description:
    'Sends messages about paid payments of the account to the address of the webhook, and judges the responses: wrong signatures, the same message twice, an unknown payment, JSON that is printed differently, letters beyond ASCII, an unknown field, two at once, messages as GOV.UK Pay prints them, and keys that anybody knows. First the true message: if that is not accepted, or no payment is paid, all findings are `not seen`. At most 48 messages within 20 seconds. Each is recorded and marked as a probe. They are no attempts of any message, and no payment changes.',
  inPath: 'An active webhook of the account',
  response: [200, 'What the receiver does', probed],
  errors: () => [notFound('webhook'), inactive(), conflict(ALREADY_SENDING)],
  async handler(context, { account, id: webhook_id, isAbandoned }) {
    const webhook = await findWebhook(context.database, account.room, webhook_id)
    if (!webhook) throw notFound('webhook')
    if (webhook.status !== 'ACTIVE') throw inactive()
    const probed = await probeReceiver(context, account, webhook, isAbandoned)
    if (!probed) throw conflict(ALREADY_SENDING)
    return { version, webhook_id, ...probed }
  },
})
