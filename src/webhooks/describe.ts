import { endpoint, json, noContent } from '../http/describe.ts'
import { pageOf } from '../http/schema.ts'
import { listedWebhook, newWebhook, webhook, webhookMessage } from './schema.ts'

const tag = 'Webhooks'

export const create = endpoint(tag, 'Register a webhook', {
  body: newWebhook,
  response: { 201: json('The webhook, with its signing key', webhook) },
  errors: {
    400: 'The body is not a JSON object: P0197',
    415: 'The body is not JSON: P0920',
    422: 'A field is missing or invalid, or the address is not public: P0101, P0102',
  },
})

export const search = endpoint(tag, 'List webhooks', {
  response: {
    200: json('One page, newest first, deactivated ones included', pageOf(listedWebhook)),
  },
  errors: { 404: 'Past the last page: P2702', 422: 'A parameter is not valid: P2701' },
})

export const read = endpoint(tag, 'Read a webhook', {
  response: { 200: json('The webhook, with its signing key', webhook) },
  errors: { 404: 'No such webhook: P2700' },
})

export const remove = endpoint(tag, 'Deactivate a webhook', {
  response: { 204: noContent },
  errors: { 404: 'No such webhook: P2700' },
})

export const messages = endpoint(tag, "Read a webhook's delivery history", {
  response: { 200: json('One page, newest first', pageOf(webhookMessage)) },
  errors: {
    404: 'No such webhook, or past the last page: P2700, P2702',
    422: 'A parameter is not valid: P2701',
  },
})
