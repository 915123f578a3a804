import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../core/config.ts'
import { type Addresses, askedFor } from '../http/addresses.ts'

/**
 * The content security policy of the hosted pages. `form-action` allows any https address, because Chromium applies it
 * to the redirects after a form too. These lead to the client's site, and from there possibly to a third site. With
 * `toHttp` both sites may be at http.
 */
export function pagePolicy(toHttp = false): string {
  const targets = `'self' https:${toHttp ? ' http:' : ''}`
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`
}

export const policies = {
  page: pagePolicy(),
  // The console's script asks the service whether the page has changed.
  console:
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  // Swagger UI sends requests, has its icons in its style sheet, and assigns to innerHTML.
  viewer:
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}

const headers = {
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
}

/**
 * Sets the headers of every page, and of the redirects and errors among the pages. A client's site may open a hosted
 * page in a new window and keep its handle, and may recognise a return by the origin of the page before. `isolated`
 * prevents both: only hosted pages go without it.
 */
export function setPageHeaders(
  reply: FastifyReply,
  { pages }: Addresses,
  policy = policies.page,
  isolated = true,
): void {
  void reply.headers(headers).header('content-security-policy', policy)
  void reply.header('referrer-policy', isolated ? 'same-origin' : 'strict-origin')
  if (isolated) void reply.header('cross-origin-opener-policy', 'same-origin')
  if (pages.startsWith('https:')) void reply.header('strict-transport-security', 'max-age=31536000')
}

export const sendHtml = (
  reply: FastifyReply,
  status: number,
  page: string | Buffer,
): FastifyReply => reply.code(status).type('text/html; charset=utf-8').send(page)

/**
 * Whether another site made the browser send this form (CSRF). Browsers send Sec-Fetch-Site to https addresses and to
 * localhost, and it is right even if a proxy changes the Host. Over plain http only the Origin shows the site: it must
 * be the requested address or a configured one. It is `null` if the other site hides it; our pages never do. A request
 * without both headers comes from a script.
 */
export function isFromOtherSite(request: FastifyRequest, config: Config): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (site === 'same-origin') return false
  if (site !== undefined && site !== 'none') return true
  if (origin === undefined) return false
  const { scheme, host } = askedFor(request, config)
  const own = [`${scheme}://${host}`, config.baseUrl, config.pagesUrl]
  const from = URL.parse(origin)?.host
  return from === undefined || !own.some(url => url && URL.parse(url)?.host === from)
}
