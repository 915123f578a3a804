import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Farthing } from '../context.ts'
import { fieldCodes, invalid, webhookNotFound } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { type Json, readFields } from '../http/fields.ts'
import { findPage, pageOf, paging, readSearch, type SearchKind, where } from '../http/search.ts'
import { registrationProblem } from '../outbound/address.ts'
import { newWebhook } from './schema.ts'
import { deactivateWebhook, findWebhook, insertWebhook, messageRows, webhookRows } from './store.ts'
import { type EventType, eventTypes, newSigningKey, type Webhook } from './webhook.ts'
import { present, presentListed, presentMessage } from './wire.ts'

const codes = fieldCodes.webhook

export const webhookSearch: SearchKind = {
  path: '/v1/webhooks',
  codes: { invalid: 'P2701', pastEnd: 'P2702' },
  filters: paging,
}

/** The delivery history of a webhook is paged alike. */
export const messageSearch = (webhook_id: string): SearchKind => ({
  ...webhookSearch,
  path: `/v1/webhooks/${webhook_id}/messages`,
})

/** SPEC *Webhook management*. */
export function webhookRoutes(app: FastifyInstance, farthing: Farthing): void {
  const { database, clock, newId, config } = farthing

  async function found(request: FastifyRequest): Promise<Webhook> {
    const webhook = await findWebhook(database, request.account, pathParam(request, 'webhook_id'))
    if (!webhook) throw webhookNotFound()
    return webhook
  }

  resource(app, '/v1/webhooks', {
    POST: {
      operation: 'createWebhook',
      accepts: requireJson,
      handler: async (request, reply) => {
        const given = await readNewWebhook(jsonBody(request, 'P0197'), farthing)
        const webhook: Webhook = {
          webhook_id: newId(clock()),
          account: request.account,
          status: 'ACTIVE',
          ...given,
          signing_key: newSigningKey(),
        }
        await database.write([insertWebhook(webhook)])
        void reply.code(201)
        return present(webhook)
      },
    },
    GET: {
      operation: 'listWebhooks',
      handler: async request => {
        const search = readSearch(request.query, webhookSearch)
        const conditions = [where('account = ?', request.account)]
        const found = await findPage(database, webhookRows, conditions, search)
        return pageOf(search, found, addressesOf(request, config), presentListed)
      },
    },
  })

  resource(app, '/v1/webhooks/:webhook_id', {
    GET: { operation: 'readWebhook', handler: async request => present(await found(request)) },
    DELETE: {
      operation: 'deleteWebhook',
      handler: async (request, reply) => {
        const webhook_id = pathParam(request, 'webhook_id')
        const known = await database.write([deactivateWebhook(request.account, webhook_id)])
        if (!known) throw webhookNotFound()
        return reply.code(204).send()
      },
    },
  })

  resource(app, '/v1/webhooks/:webhook_id/messages', {
    GET: {
      operation: 'listWebhookMessages',
      handler: async request => {
        const kind = messageSearch(pathParam(request, 'webhook_id'))
        const search = readSearch(request.query, kind)
        const { webhook_id } = await found(request)
        const conditions = [where('webhook_id = ?', webhook_id)]
        const messages = await findPage(database, messageRows, conditions, search)
        const now = clock()
        return pageOf(search, messages, addressesOf(request, config), row =>
          presentMessage(row, now),
        )
      },
    },
  })
}

type Given = Pick<Webhook, 'callback_url' | 'description' | 'subscriptions'>

async function readNewWebhook(body: Json, { resolve, config }: Farthing): Promise<Given> {
  const fields = readFields(body, newWebhook, codes)
  const callback_url = fields.text('callback_url')
  fields.checkLimits(['callback_url'])
  const problem = await registrationProblem(callback_url, config.callbackHosts, resolve)
  if (problem) throw invalid(codes, 'callback_url', problem)
  const description = fields.optionalRawText('description')
  fields.checkLimits(['description'])
  const subscriptions = readSubscriptions(body.subscriptions)
  return { callback_url, ...(description !== undefined && { description }), subscriptions }
}

/** SPEC *Webhook*: all event types if not given. Repeats collapse. */
function readSubscriptions(value: unknown): readonly EventType[] {
  if (value === undefined || value === null) return eventTypes
  const known = (entry: unknown): entry is EventType => eventTypes.some(type => type === entry)
  if (!Array.isArray(value) || value.length === 0 || !value.every(known))
    throw invalid(
      codes,
      'subscriptions',
      `must be a list of one or more of ${eventTypes.join(', ')}`,
    )
  return [...new Set(value)]
}
