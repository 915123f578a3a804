import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AllowedHosts } from '../../core/config.ts'
import type { Addresses } from '../http/addresses.ts'

/**
 * The content security policy of the hosted pages. `form-action` allows any https address, because Chromium applies
 * it to the redirects after a form too. Those lead to the client's site, and from there possibly to a third one, which
 * is at http where `returnHosts` lets the client's site be.
 */
export function pagePolicy(returnHosts: AllowedHosts = new Set()): string {
  const targets = `'self' https:${returnHosts.size > 0 ? ' http:' : ''}`
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`
}

export const policies = {
  page: pagePolicy(),
  // Its script asks whether there is something new.
  console:
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  // Swagger UI sends requests, has its icons in its style sheet, and assigns to innerHTML.
  viewer:
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}

const headers = {
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
}

/**
 * Sets the headers of every page, and of the redirects and errors among the pages. The client's site may open a hosted
 * page in a window of its own and keep its handle; `isolated` cuts that, for all other pages.
 */
export function setPageHeaders(
  reply: FastifyReply,
  { pages }: Addresses,
  policy = policies.page,
  isolated = true,
): void {
  void reply.headers(headers).header('content-security-policy', policy)
  if (isolated) void reply.header('cross-origin-opener-policy', 'same-origin')
  if (pages.startsWith('https:')) void reply.header('strict-transport-security', 'max-age=31536000')
}

export const sendHtml = (
  reply: FastifyReply,
  status: number,
  page: string | Buffer,
): FastifyReply => reply.code(status).type('text/html; charset=utf-8').send(page)

/**
 * True if another site made the browser send the request. Browsers send Sec-Fetch-Site to https addresses and to
 * localhost. A request without it comes from a script, or over plain http.
 */
export function isCrossSite({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}
