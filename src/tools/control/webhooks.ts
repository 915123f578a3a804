import { version } from '../../core/version.ts'
import { findWebhook } from '../../pay/webhooks/store.ts'
import { object } from '../../platform/http/schema.ts'
import { ALREADY_SENDING } from '../deliver/resend.ts'
import { probeReceiver } from '../explain/check/probe.ts'
import { MOST_POSTS } from '../explain/check/probing.ts'
import { conflict, notFound } from '../steer/errors.ts'
import { count, identifier, text } from '../steer/schemas.ts'
import { finding } from './check.ts'
import { defineEndpoint } from './endpoint.ts'

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
