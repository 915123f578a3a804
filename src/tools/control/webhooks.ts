import { untilWritten } from '../../core/retry.ts'
import { version } from '../../core/version.ts'
import { shapes } from '../../pay/webhooks/govuk-pay.ts'
import { findWebhook, shapeWebhook } from '../../pay/webhooks/store.ts'
import { object } from '../../platform/http/schema.ts'
import { ALREADY_SENDING } from '../deliver/resend.ts'
import { probeReceiver } from '../explain/check/probe.ts'
import { MOST_POSTS } from '../explain/check/probing.ts'
import { finding } from './check.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField, conflict, missingField, notFound } from './errors.ts'
import { body } from './fields.ts'
import { count, identifier, text } from './schemas.ts'

export const as = {
  type: ['string', 'null'],
  enum: [...shapes, null],
  description: 'Messages look as GOV.UK Pay sends them; null: as the specification says',
} as const

const shapeField = {
  schema: as,
  rule: `${shapes.join(' or ')}, or null`,
  parse: (given: unknown) => (given === null ? given : shapes.find(each => each === given)),
}

/** Sets how the messages of a webhook look from now on. Those that were made before stay as they are. */
export const setWebhookShape = defineEndpoint({
  method: 'PUT',
  path: '/control/webhooks/{webhook_id}',
  operationId: 'setWebhookShape',
  summary: 'Send the messages of a webhook as GOV.UK Pay does',
  body: body('WebhookShape', { as: shapeField }, {}),
  description:
    'Holds for messages of changes from now on. The history of the webhook shows what was sent.',
  inPath: 'A webhook of the account',
  response: [200, 'The webhook', object('ShapedWebhook', { webhook_id: identifier, as })],
  errors: () => [
    notFound('webhook'),
    missingField('as', `is required: ${shapeField.rule}`),
    badField('as', `must be ${shapeField.rule}`),
  ],
  handler: ({ database, time }, { account, body: { as }, id: webhook_id }) =>
    untilWritten(async () => {
      const webhook = await findWebhook(database, account.room, webhook_id)
      if (!webhook) throw notFound('webhook')
      const statement = shapeWebhook(webhook, as ?? undefined, time.wall())
      return (await database.write([statement])) ? { webhook_id, as } : undefined
    }),
})

const probed = object('Probed', {
  version: { ...text, description: 'The version of this Farthing' },
  webhook_id: identifier,
  posts: { ...count, maximum: MOST_POSTS, description: 'How many messages were sent' },
  findings: { type: 'array', items: finding, description: 'R1 to R11, in this order' },
})

const inactive = () => conflict('the webhook is INACTIVE: register another one')

export const probeWebhook = defineEndpoint({
  method: 'POST',
  path: '/control/webhooks/{webhook_id}/probe',
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
