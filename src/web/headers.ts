import type { FastifyReply } from 'fastify'
import type { Addresses } from '../http/addresses.ts'

/**
 * Chromium applies form-action to the redirect that follows a form too, so that the way back to
 * return_url, and on from there, needs `https:`.
 */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
}

/** What every page, and every redirect and error among the pages, carries. */
export function setPageHeaders(reply: FastifyReply, { pages }: Addresses): void {
  void reply.headers(headers)
  if (pages.startsWith('https:')) void reply.header('strict-transport-security', 'max-age=31536000')
}
