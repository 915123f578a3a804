import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Farthing } from '../context.ts'
import { webhookNotFound } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { findPage, where } from '../http/find-page.ts'
import { pageOf, readSearch, type SearchKind } from '../http/page.ts'
import { paging } from '../http/search.ts'
import { deactivateWebhook, findWebhook, insertWebhook, messageRows, webhookRows } from './store.ts'
import { newSigningKey, type Webhook } from './webhook.ts'
import { present, presentListed, presentMessage, readNewWebhook } from './wire.ts'

export const webhookSearch: SearchKind = {
  path: '/v1/webhooks',
  codes: { invalid: 'P2701', pastEnd: 'P2702' },
  filters: paging,
}

/** Search of the delivery history of a webhook. */
export const messageSearch = (webhook_id: string): SearchKind => ({
  ...webhookSearch,
  path: `/v1/webhooks/${webhook_id}/messages`,
})

/** Specification, *Webhook management*. */
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
