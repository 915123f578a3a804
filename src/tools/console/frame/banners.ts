/**
 * The banners that report the result of an action. A redirect names one in a cookie that the next page uses up, so that
 * a banner is shown once: not after a reload, not in another window, and not for whoever types or shares an address.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../core/config.ts'
import { inPounds } from '../../../core/money.ts'
import { cookiesNamed, setCookie } from './session.ts'

type BannerRequest = { request: FastifyRequest; config: Config }

/** What went well. */
const successes = {
  created: 'The payment is created. Open its page to pay it.',
  'created-without-page':
    'The payment is created. It has no page: press a button for what the card does, or let your service send the card.',
  succeeded: 'The payment succeeded.',
  authorised: 'The payment is authorised. Capture it to make it a success.',
  captured: 'The payment is captured.',
  refunded: 'The refund is submitted.',
  agreed: 'The agreement is made. A paid payment sets it up.',
  registered: 'The webhook is registered. Its signing key is on this page.',
  'signed-out': 'You have signed out.',
} as const

const others = {
  declined: 'The card was declined. The payment has failed (P0010).',
  error: 'The provider had an error. The payment has ended (P0050).',
  cancelled: 'The user cancelled. The payment has failed (P0030).',
  expired: 'The payment has expired. It has failed (P0020).',
  'cancelled-by-api': 'The payment was cancelled through the API (P0040).',
  overtaken: 'Nothing was done: another request changed the payment first.',
  'agreement-cancelled': 'The agreement is cancelled.',
  'cancelled-before': 'Nothing was done: the agreement was cancelled before.',
  deactivated: 'The webhook is deactivated. It gets no more messages.',
  resending:
    'The failed messages are being sent again, one after the other. Refresh the page to see how far it is.',
  'resending-already':
    'Nothing was begun: messages of this account are being sent by hand already.',
  'none-failed': 'Nothing was sent: there is no failed message that can be sent again.',
  'not-sent': 'Nothing was sent.',
  lost: 'You were signed out. Nothing was done: do it again.',
} as const

export type Code = keyof typeof successes | keyof typeof others

/** `pence` is the amount that a refund has. */
export type Done = { code: Code; pence?: number | undefined }

const COOKIE = 'farthing_console_done'

/** Seconds within which the next page has to be opened. */
const SECONDS = 60

/** Lets the page `to` show a banner, once. */
export function leaveBanner(
  { request, config }: BannerRequest,
  reply: FastifyReply,
  { to, done }: { to: string; done: Done },
): void {
  const [page] = to.split('?', 1)
  const value = [done.code, done.pence, page].join('.')
  setCookie(request, reply, config, { name: COOKIE, value, seconds: SECONDS })
}

/** The banner that was left for the page of this request. It is used up with that. */
export function takeBanner(
  { request, config, base }: BannerRequest & { base: string },
  reply: FastifyReply,
) {
  const [path] = request.originalUrl.split('?', 1)
  for (const value of cookiesNamed(request, COOKIE)) {
    const [code = '', pence = '', page] = value.split('.', 3)
    if (path !== `${base}/${page}`) continue
    setCookie(request, reply, config, { name: COOKIE, value: '', seconds: 0 })
    return bannerOf(code, pence)
  }
  return undefined
}

/** `success`: it is green. */
function bannerOf(code: string, pence: string) {
  if (code === 'refunded' && /^\d{1,9}$/.test(pence))
    return { text: `A refund of ${inPounds(Number(pence))} is submitted.`, success: true }
  const text = new Map(Object.entries({ ...successes, ...others })).get(code)
  return text === undefined ? undefined : { text, success: Object.hasOwn(successes, code) }
}
