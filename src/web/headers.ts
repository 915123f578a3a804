import type { FastifyReply } from 'fastify'
import type { Addresses } from '../http/addresses.ts'

/** The content security policies of the pages. */
const policies = {
  // `form-action` allows any https address, because Chromium applies it to the redirects after a form too.
  // Those lead to the client's site, and from there possibly to a third one.
  page: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  // Swagger UI sends requests, has its icons in its style sheet, and assigns to innerHTML.
  viewer:
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}

const headers = {
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
}

/** Sets the headers of every page, and of the redirects and errors among the pages. */
export function setPageHeaders(
  reply: FastifyReply,
  { pages }: Addresses,
  policy: keyof typeof policies = 'page',
): void {
  void reply.headers(headers).header('content-security-policy', policies[policy])
  if (pages.startsWith('https:')) void reply.header('strict-transport-security', 'max-age=31536000')
}
