/** Every endpoint of /openapi.json. The tests of the document and of the routes read these tables. */
import type { Client } from './client.ts'

/** The endpoints under /v1 with the codes of their own errors. */
export const endpoints: Record<string, Record<number, string>> = {
  'POST /v1/payments': {
    201: '',
    400: 'P0101 P0102 P0103 P0104 P0197 P0920',
    409: 'P0191',
    422: 'P0102',
  },
  'GET /v1/payments': { 200: '', 404: 'P0402', 422: 'P0401' },
  'GET /v1/payments/{payment_id}': { 200: '', 404: 'P0200' },
  'GET /v1/payments/{payment_id}/events': { 200: '', 404: 'P0300' },
  'POST /v1/payments/{payment_id}/cancel': { 204: '', 400: 'P0501', 404: 'P0500' },
  'POST /v1/payments/{payment_id}/capture': { 204: '', 404: 'P1000', 409: 'P1003' },
  'GET /v1/payments/{payment_id}/refunds': { 200: '', 404: 'P0800' },
  'POST /v1/payments/{payment_id}/refunds': {
    202: '',
    400: 'P0601 P0602 P0603 P0697 P0920',
    404: 'P0600',
    412: 'P0604',
    422: 'P0602',
  },
  'GET /v1/payments/{payment_id}/refunds/{refund_id}': { 200: '', 404: 'P0700' },
  'GET /v1/refunds': { 200: '', 404: 'P1100', 422: 'P1101' },
  'POST /v1/agreements': { 201: '', 400: 'P2101 P2102 P2197 P0920', 422: 'P0102' },
  'GET /v1/agreements/{agreement_id}': { 200: '', 404: 'P2200' },
  'GET /v1/agreements': { 200: '', 404: 'P2402', 422: 'P2401' },
  'POST /v1/agreements/{agreement_id}/cancel': { 204: '', 400: 'P2501', 404: 'P2500' },
  'GET /v1/disputes': { 200: '', 404: 'P0402', 422: 'P0401' },
  'POST /v1/auth': { 204: '', 400: 'P0197 P0920 P1211 P1212', 402: 'P0010', 422: 'P0101 P0102' },
  'POST /v1/webhooks': { 201: '', 400: 'P0197 P0920', 422: 'P0101 P0102' },
  'GET /v1/webhooks': { 200: '', 404: 'P2702', 422: 'P2701' },
  'GET /v1/webhooks/{webhook_id}': { 200: '', 404: 'P2700' },
  'DELETE /v1/webhooks/{webhook_id}': { 204: '', 404: 'P2700' },
  'GET /v1/webhooks/{webhook_id}/messages': { 200: '', 404: 'P2700 P2702', 422: 'P2701' },
}

/** The endpoints with an identifier in their path, and the code for an unknown identifier. */
export const ofOneThing = Object.entries(endpoints)
  .filter(([name]) => name.includes('{'))
  .map(([name, { 404: codes = '' }]) => ({ name, code: codes.slice(0, 5) }))

export function askFor(api: Client, name: string, idOf: (name: string) => string, amount = 1) {
  const [method = '', path = ''] = name.replaceAll(/\{(\w+)\}/g, (_, id) => idOf(id)).split(' ')
  return method === 'POST' ? api.post(path, { amount }) : api.request(method, path)
}

/** The errors that every endpoint under /v1 can return. */
export const common: Record<number, string> = {
  401: 'P0910',
  404: 'P0911',
  405: 'P0912',
  413: 'P0913',
  429: 'P0900',
  500: 'P0999',
  503: 'P0999',
}

/** The statuses of every endpoint outside /v1. */
export const others: Record<string, string> = {
  'GET /secure/{token}': '200 303 404 405 500 503',
  'POST /secure/{token}': '200 303 400 403 404 405 413 415 422 500 503',
  'GET /secure/{token}/confirm': '200 303 404 405 500 503',
  'POST /secure/{token}/confirm': '200 303 403 404 405 413 415 422 500 503',
  'POST /secure': '200 303 400 403 404 405 413 415 422 500 503',
  'GET /secure': '404 405 500 503',
  'GET /assets/{name}': '200 304 404 405 500 503',
  'GET /healthz': '200 405 500',
  'GET /readyz': '200 405 500 503',
  'GET /healthcheck': '200 405 500 503',
  'GET /openapi.json': '200 405 500 503',
  'GET /docs': '200 405 500 503',
  'GET /': '200 405 500 503',
}
