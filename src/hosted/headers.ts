import type { FastifyReply } from 'fastify'
import type { Addresses } from '../http/addresses.ts'

/**
 * Chromium applies form-action to the redirect that follows a form too, so that the way back to
 * return_url, and on from there, needs `https:`.
 */
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'X-Robots-Tag': 'noindex, nofollow',
}

/** What every page, and every redirect and error among the pages, carries. */
export function setPageHeaders(reply: FastifyReply, { pages }: Addresses): void {
  void reply.headers(headers)
  if (pages.startsWith('https:')) void reply.header('Strict-Transport-Security', 'max-age=31536000')
}
