import type { FastifyRequest } from 'fastify'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import type { Config } from '../../core/config.ts'
import * as errors from '../../core/errors.ts'
import type { Ports } from '../../core/ports.ts'
import { findPage, where } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { JSON_TYPE, jsonBody } from '../../platform/http/body.ts'
import { api, type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
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
import type { Decision } from '../differences/difference.ts'
import { attempts, webhooksBelowV1 } from '../differences/messages.ts'
import { registerWebhook } from './commands.ts'
import { messageRows } from './message-store.ts'
import { deactivateWebhook, findWebhook, webhookRows } from './store.ts'
import { duplicateWarning, eventTypesOf, type Webhook } from './webhook.ts'
import {
  anyWebhook,
  messageBody,
  presentListed,
  presentMessage,
  presentWebhook,
  readNewWebhook,
  webhookSchemas,
} from './wire.ts'

/** Specification, *Webhook management*. `resource` describes the payment in a message under each behaviour. */
export const webhookEndpoints = (context: Configured, resource: Decision<Schema>): Endpoint[] =>
  endpointsAt('/v1/webhooks', context, resource).map(one => ({ ...one, existsIn: webhooksBelowV1 }))

/** The same below /control, for accounts of both behaviours. */
export const webhooksByControl = (context: Configured): Endpoint[] =>
  endpointsAt('/control/webhooks', context).map(({ operationId, ...endpoint }) => ({
    ...endpoint,
    area: 'control',
    operationId: `${operationId}ByControl`,
  }))

const endpointsAt = (path: string, context: Configured, resource?: Decision<Schema>) => {
  const kind = { path, codes: { invalid: 'P2701', pastEnd: 'P2702' }, filters: paging } as const
  const at = { ...context, path, kind, schemas: resource ? ofSpecification : anyWebhook }
  return [create(at), list(at), read(at), deactivate(at), listMessages(at, resource)]
}

type Configured = Ports & { config: Config }

type At = Configured & { path: string; kind: SearchKind; schemas: typeof anyWebhook }

/** The schemas below /v1, which has webhooks under the specification only. */
const ofSpecification = webhookSchemas(eventTypesOf.specification, attempts.specification.most)

const webhookId = pathParameter('webhook_id', 'A webhook of the account')

const codes = errors.fieldCodes.webhook

const create = (context: At): Endpoint => ({
  ...api('POST', context.path, 'createWebhook', 'Register a webhook'),
  accepts: 'json',
  docs: () => ({
    description: `The callback_url must be https, and its host must have public addresses only: not private, loopback or link-local ones. Farthing looks the name up now and again at every delivery, and connects to an address that it has checked. The setting \`FARTHING_CALLBACK_HOSTS\` of the service lists hosts that may be private and use plain http, such as \`localhost:4000\` on a laptop.

Keep the signing_key, which signs every message. You cannot change a webhook or replace its key. Register another webhook instead.`,
    requestBody: requestBody(context.schemas.newWebhook),
    responses: { 201: json('The webhook, with its signing key', context.schemas.webhook) },
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
    const fields = await readNewWebhook(jsonBody(request, 'P0197'), account, context)
    const { webhook, others } = await registerWebhook(context, { account, fields })
    if (others.length > 0) request.log.warn(duplicateWarning(webhook.callback_url, others))
    void reply.code(201)
    return presentWebhook(webhook)
  },
})

const list = ({ database, config, path, kind, schemas }: At): Endpoint => ({
  ...api('GET', path, 'listWebhooks', 'List webhooks'),
  search: kind,
  docs: () => ({
    description: 'Newest first, with deleted ones. Signing keys are not shown.',
    ...searchDocs(kind, pageSchema(schemas.listedWebhook), ['page']),
  }),
  handler: async request => {
    const search = readSearch(request.query, kind)
    const conditions = [where('account = ?', request.account.room)]
    const result = await findPage(database, webhookRows, conditions, search)
    return pageOf(search, result, addressesOf(request, config), presentListed)
  },
})

const read = (context: At): Endpoint => ({
  ...api('GET', `${context.path}/{webhook_id}`, 'readWebhook', 'Read a webhook'),
  docs: () => ({
    parameters: [webhookId],
    responses: { 200: json('The webhook, with its signing key', context.schemas.webhook) },
    errors: [errors.webhookNotFound()],
  }),
  handler: async request => presentWebhook(await webhookInPath(request, context)),
})

const deactivate = ({ database, path }: At): Endpoint => ({
  ...api('DELETE', `${path}/{webhook_id}`, 'deleteWebhook', 'Deactivate a webhook'),
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

const listMessages = (context: At, resource: Decision<Schema> | undefined): Endpoint => ({
  ...api(
    'GET',
    `${context.path}/{webhook_id}/messages`,
    'listWebhookMessages',
    "Read a webhook's delivery history",
  ),
  search: context.kind,
  docs: behaviour => {
    const { webhookMessage } = context.schemas
    const { properties } = webhookMessage
    const body = resource && {
      anyOf: [messageBody(resource[behaviour], behaviour), { type: 'null' }],
      description: properties.body.description,
    }
    const item = { ...webhookMessage, properties: { ...properties, ...(body && { body }) } }
    const search = searchDocs(context.kind, pageSchema(item), ['display_size'])
    return {
      description:
        'Every message, newest first, with its attempts and the body that was sent. After 7 days, when its payment is gone, a message stays and its body is null.',
      ...search,
      parameters: [webhookId, ...search.parameters],
      errors: [errors.webhookNotFound(), ...search.errors],
    }
  },
  handler: async request => {
    const { database, time, config, kind, path } = context
    const webhook_id = pathParam(request, 'webhook_id')
    const search = readSearch(request.query, { ...kind, path: `${path}/${webhook_id}/messages` })
    await webhookInPath(request, context)
    const conditions = [where('webhook_id = ?', webhook_id)]
    const messages = await findPage(database, messageRows, conditions, search)
    const reading = { account: request.account, now: time.now(request.account) }
    return pageOf(search, messages, addressesOf(request, config), row =>
      presentMessage(row, reading),
    )
  },
})

async function webhookInPath(request: FastifyRequest, { database }: Ports): Promise<Webhook> {
  const webhook_id = pathParam(request, 'webhook_id')
  const found = await findWebhook(database, request.account.room, webhook_id)
  if (!found) throw errors.webhookNotFound()
  return found
}
