import { json, pathParameter } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { ALREADY_SENDING } from '../deliver/resend.ts'
import { askReceiver } from '../explain/check/ask.ts'
import { adviceText } from '../explain/signature/advice.ts'
import { defineEndpoint } from './endpoint.ts'
import { conflict, notFound } from './errors.ts'
import { count, identifier, text } from './schemas.ts'
import { messageInPath } from './send.ts'

const askedReceiver = object('AskedReceiver', {
  message_id: identifier,
  cause: {
    ...text,
    description:
      '`accepts`, `checks-nothing`, `compared-wrongly`, `not-the-signature`, `other-answer`, `unsteady`, `stopped`, `unknown`, or the mistake, such as `body:printed-python`, `key:newline` or `digest:base64`',
  },
  sentence: text,
  advice: { ...text, description: 'What to change, with a line for each framework' },
  posts: { ...count, maximum: 45, description: 'How many copies were sent' },
  evidence: {
    type: 'array',
    items: identifier,
    description: 'The recorded copies that show it, each at /console/requests/{id}',
  },
})

/** Asks the receiver of a message which mistake it makes with signatures. */
export const askAboutMessage = (context: ToolContext, stopped: () => boolean) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/messages/{message_id}/ask',
    operationId: 'askReceiver',
    summary: 'Ask the receiver of a message how it checks signatures',
    docs: () => ({
      description:
        'For a message that its receiver refuses with 400, 401 or 403. First looks at the response to the newest attempt: if that holds 64 hexadecimal digits that a known mistake explains, nothing is sent. Otherwise sends copies of it to the address of its webhook: the right one, one that is signed with a random key, one with each other signing key of the account, the newest first, and then one for each known mistake, until one is accepted. At most 45, one after the other, within 30 seconds. Each is recorded and marked `asked`. The message, its attempts and its payment stay as they are.',
      parameters: [pathParameter('message_id', 'A message of the account')],
      responses: { 200: json('What the receiver checks', askedReceiver) },
      errors: [
        notFound('message'),
        conflict('the webhook of this message is INACTIVE: register another one'),
        conflict(ALREADY_SENDING),
      ],
    }),
    handler: async request => {
      const message = await messageInPath(request, context)
      const asked = await askReceiver(context, request.account, message, {
        by: 'control',
        isAbandoned: () => stopped() || request.raw.socket.destroyed,
      })
      if (!asked) throw conflict(ALREADY_SENDING)
      const { cause, sentence, advice, posts, evidence } = asked
      return {
        message_id: message.message_id,
        cause,
        sentence,
        advice: adviceText(advice),
        posts,
        evidence,
      }
    },
  })
