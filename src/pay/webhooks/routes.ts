import type { FastifyRequest } from 'fastify'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import * as errors from '../../core/errors.ts'
import { findPage, where } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { JSON_TYPE, jsonBody } from '../../platform/http/body.ts'
import { type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import {
  json,
  noContent,
  pathParameter,
  requestBody,
  type Schema,
  searchDocs,
} from '../../platform/http/openapi.ts'
import { pageSchema } from '../../platform/http/schema.ts'
import { pageOf, paging, readSearch, type SearchKind } from '../../platform/http/search.ts'
import { mustBePublic } from '../../platform/outbound/address.ts'
import type { Context } from '../context.ts'
import type { Decision } from '../differences/difference.ts'
import { registerWebhook } from './commands.ts'
import { messageRows } from './message-store.ts'
import { deactivateWebhook, findWebhook, webhookRows } from './store.ts'
import { duplicateWarning, type Webhook } from './webhook.ts'
import {
  listedWebhook,
  messageBody,
  newWebhook,
  otherMessageBody,
  presentListed,
  presentMessage,
  presentWebhook,
  readNewWebhook,
  webhook,
  webhookMessage,
} from './wire.ts'

const webhookSearch: SearchKind = {
  path: '/v1/webhooks',
  codes: { invalid: 'P2701', pastEnd: 'P2702' },
  filters: paging,
}

/** Specification, *Webhook management*. `resource` describes the payment in a message under each behaviour. */
export const webhookEndpoints = (context: Context, resource: Decision<Schema>): Endpoint[] => [
  create(context),
  list(context),
  read(context),
  deactivate(context),
  listMessages(context, resource),
]

const webhookId = pathParameter('webhook_id', 'A webhook of the account')

const codes = errors.fieldCodes.webhook

const create = (context: Context): Endpoint => ({
  method: 'POST',
  path: '/v1/webhooks',
  area: 'api',
  operationId: 'createWebhook',
  summary: 'Register a webhook',
  accepts: 'json',
  docs: () => ({
    description: `The callback_url must be https, and its host must have public addresses only: not private, loopback or link-local ones. Farthing looks the name up now and again at every delivery, and connects to an address that it has checked. The setting \`FARTHING_CALLBACK_HOSTS\` of the service lists hosts that may be private and use plain http, such as \`localhost:4000\` on a laptop.

Keep the signing_key, which signs every message. You cannot change a webhook or replace its key. Register another webhook instead.`,
    requestBody: requestBody(newWebhook),
    responses: { 201: json('The webhook, with its signing key', webhook) },
    errors: [
      errors.notAnObject('P0197'),
      errors.wrongMediaType(400, JSON_TYPE),
      errors.missing(codes, 'callback_url'),
      errors.invalid(codes, 'callback_url', mustBePublic()),
      errors.tooManyWebhooks(ACTIVE_WEBHOOKS),
    ],
  }),
  handler: async (request, reply) => {
    const { account } = request
    const fields = await readNewWebhook(jsonBody(request, 'P0197'), context)
    const { webhook, others } = await registerWebhook(context, { account, fields })
    if (others.length > 0) request.log.warn(duplicateWarning(webhook.callback_url, others))
    void reply.code(201)
    return presentWebhook(webhook)
  },
})

const list = ({ database, config }: Context): Endpoint => ({
  method: 'GET',
  path: '/v1/webhooks',
  area: 'api',
  operationId: 'listWebhooks',
  search: webhookSearch,
  summary: 'List webhooks',
  docs: () => ({
    description: 'Newest first, with deleted ones. Signing keys are not shown.',
    ...searchDocs(webhookSearch, pageSchema(listedWebhook), ['page']),
  }),
  handler: async request => {
    const search = readSearch(request.query, webhookSearch)
    const conditions = [where('account = ?', request.account.room)]
    const result = await findPage(database, webhookRows, conditions, search)
    return pageOf(search, result, addressesOf(request, config), presentListed)
  },
})

const read = (context: Context): Endpoint => ({
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}',
  area: 'api',
  operationId: 'readWebhook',
  summary: 'Read a webhook',
  docs: () => ({
    parameters: [webhookId],
    responses: { 200: json('The webhook, with its signing key', webhook) },
    errors: [errors.webhookNotFound()],
  }),
  handler: async request => presentWebhook(await webhookInPath(request, context)),
})

const deactivate = ({ database }: Context): Endpoint => ({
  method: 'DELETE',
  path: '/v1/webhooks/{webhook_id}',
  area: 'api',
  operationId: 'deleteWebhook',
  summary: 'Deactivate a webhook',
  docs: () => ({
    description:
      'It gets no more messages and its status is INACTIVE. You can still read it and its history. Deleting it again changes nothing. A body is ignored.',
    parameters: [webhookId],
    responses: { 204: noContent('It is deactivated') },
    errors: [errors.webhookNotFound()],
  }),
  handler: async (request, reply) => {
    const webhook_id = pathParam(request, 'webhook_id')
    const exists = await database.write([deactivateWebhook(request.account.room, webhook_id)])
    if (!exists) throw errors.webhookNotFound()
    return reply.code(204).send()
  },
})

const listMessages = (context: Context, resource: Decision<Schema>): Endpoint => ({
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/messages',
  area: 'api',
  operationId: 'listWebhookMessages',
  search: webhookSearch,
  summary: "Read a webhook's delivery history",
  docs: behaviour => {
    const { properties } = webhookMessage
    const body = {
      anyOf: [messageBody(resource[behaviour]), otherMessageBody, { type: 'null' }],
      description: properties.body.description,
    }
    const item = { ...webhookMessage, properties: { ...properties, body } }
    const search = searchDocs(webhookSearch, pageSchema(item), ['display_size'])
    return {
      description:
        'Every message, newest first, with its attempts and the body that was sent. After 7 days, when its payment is gone, a message stays and its body is null.',
      ...search,
      parameters: [webhookId, ...search.parameters],
      errors: [errors.webhookNotFound(), ...search.errors],
    }
  },
  handler: async request => {
    const { database, time, config } = context
    const webhook_id = pathParam(request, 'webhook_id')
    const kind = { ...webhookSearch, path: `/v1/webhooks/${webhook_id}/messages` }
    const search = readSearch(request.query, kind)
    await webhookInPath(request, context)
    const conditions = [where('webhook_id = ?', webhook_id)]
    const messages = await findPage(database, messageRows, conditions, search)
    const reading = { account: request.account, now: time.now(request.account) }
    return pageOf(search, messages, addressesOf(request, config), row =>
      presentMessage(row, reading),
    )
  },
})

async function webhookInPath(request: FastifyRequest, { database }: Context): Promise<Webhook> {
  const webhook_id = pathParam(request, 'webhook_id')
  const found = await findWebhook(database, request.account.room, webhook_id)
  if (!found) throw errors.webhookNotFound()
  return found
}
