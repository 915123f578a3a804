import { untilWritten } from '../../core/retry.ts'
import { shapes } from '../../pay/webhooks/govuk-pay.ts'
import { findWebhook, shapeWebhook } from '../../pay/webhooks/store.ts'
import { pathParam } from '../../platform/http/endpoint.ts'
import { json, pathParameter } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField, missingField, notFound } from './errors.ts'
import { identifier } from './schemas.ts'

export const as = {
  type: ['string', 'null'],
  enum: [...shapes, null],
  description: 'Messages look as GOV.UK Pay sends them; null: as the specification says',
} as const

const shape = object('WebhookShape', { as })
const shapedWebhook = object('ShapedWebhook', { webhook_id: identifier, as })

export const badShape = () => badField('as', `must be ${shapes.join(' or ')}, or null`)
const noShape = () => missingField('as', `is required: ${shapes.join(' or ')}, or null`)

/** Sets how the messages of a webhook look from now on. Those that were made before stay as they are. */
export const setWebhookShape = ({ database }: ToolContext) =>
  defineEndpoint({
    method: 'PUT',
    path: '/control/webhooks/{webhook_id}',
    operationId: 'setWebhookShape',
    summary: 'Send the messages of a webhook as GOV.UK Pay does',
    body: shape,
    docs: () => ({
      description:
        'Holds for messages of changes from now on. The history of the webhook shows what was sent.',
      parameters: [pathParameter('webhook_id', 'A webhook of the account')],
      responses: { 200: json('The webhook', shapedWebhook) },
      errors: [notFound('webhook'), noShape(), badShape()],
    }),
    handler: async (request, { body }) => {
      if (body.as === undefined) throw noShape()
      const wanted = shapes.find(each => each === body.as)
      if (body.as !== null && wanted === undefined) throw badShape()
      const webhook_id = pathParam(request, 'webhook_id')
      await untilWritten(async () => {
        const found = await findWebhook(database, request.account.room, webhook_id)
        if (!found) throw notFound('webhook')
        return (await database.write([shapeWebhook(found, wanted)])) ? found : undefined
      })
      return { webhook_id, as: wanted ?? null }
    },
  })
