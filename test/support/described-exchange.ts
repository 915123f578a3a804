import type { Exchange } from './description.ts'

const headersOf: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  405: { Allow: 'GET, HEAD' },
  503: { 'Retry-After': '1' },
}

/** An exchange in which `name`, such as "GET /v1/refunds", returns `value` with all required headers. */
export function exchangeOf(name: string, status: number, value: unknown): Exchange {
  const [method = '', template = ''] = name.split(' ')
  const headers = new Headers({
    'Content-Type': 'application/json',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    ...headersOf[status],
    ...(`${status} ${name}` === '201 POST /v1/payments' && { Location: 'https://example.org/' }),
  })
  const path = template.replace(/\{\w+\}/g, 'x')
  return { method, path, status, headers, text: JSON.stringify(value), sent: undefined }
}
