import { untilWritten } from '../../core/retry.ts'
import { shapes } from '../../pay/webhooks/govuk-pay.ts'
import { findWebhook, shapeWebhook } from '../../pay/webhooks/store.ts'
import { type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import { json, pathParameter, requestBody } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { readBody } from './body.ts'
import { badBody, badField, missingField, notFound, unknownField } from './errors.ts'
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
export const setWebhookShape = ({ database }: ToolContext): Endpoint => ({
  method: 'PUT',
  path: '/control/webhooks/{webhook_id}',
  area: 'control',
  operationId: 'setWebhookShape',
  summary: 'Send the messages of a webhook as GOV.UK Pay does',
  accepts: 'json',
  docs: () => ({
    description:
      'Holds for messages of changes from now on. The history of the webhook shows what was sent.',
    parameters: [pathParameter('webhook_id', 'A webhook of the account')],
    requestBody: requestBody(shape),
    responses: { 200: json('The webhook', shapedWebhook) },
    errors: [...badBody(), notFound('webhook'), noShape(), badShape(), unknownField()],
  }),
  handler: async request => {
    const { as: given } = readBody(request, shape)
    if (given === undefined) throw noShape()
    const wanted = shapes.find(each => each === given)
    if (given !== null && wanted === undefined) throw badShape()
    const webhook_id = pathParam(request, 'webhook_id')
    await untilWritten(async () => {
      const found = await findWebhook(database, request.account.room, webhook_id)
      if (!found) throw notFound('webhook')
      return (await database.write([shapeWebhook(found, wanted)])) ? found : undefined
    })
    return { webhook_id, as: wanted ?? null }
  },
})
