/**
 * The banners that report the result of an action. A redirect names one in a cookie that the next page uses up, so that
 * a banner is shown once: not after a reload, not in another window, and not for whoever types or shares an address.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../core/config.ts'
import { inPounds } from '../../../core/money.ts'
import { cookie, cookiesNamed } from './session.ts'

type BannerRequest = { request: FastifyRequest; config: Config }

/** `success`, which is green, only where the payment or the refund went well: everything else is neutral. */
export type Banner = { text: string; success: boolean }

const banners = {
  created: { text: 'The payment is created. Open its page to pay it.', success: true },
  'created-without-page': {
    text: 'The payment is created. It has no page: press a button for what the card does, or let your service send the card.',
    success: true,
  },
  succeeded: { text: 'The payment succeeded.', success: true },
  authorised: {
    text: 'The payment is authorised. Capture it to make it a success.',
    success: true,
  },
  declined: { text: 'The card was declined. The payment has failed (P0010).', success: false },
  error: { text: 'The provider had an error. The payment has ended (P0050).', success: false },
  cancelled: { text: 'The user cancelled. The payment has failed (P0030).', success: false },
  expired: { text: 'The payment has expired. It has failed (P0020).', success: false },
  'cancelled-by-api': {
    text: 'The payment was cancelled through the API (P0040).',
    success: false,
  },
  captured: { text: 'The payment is captured.', success: true },
  refunded: { text: 'The refund is submitted.', success: true },
  overtaken: {
    text: 'Nothing was done: another request changed the payment first.',
    success: false,
  },
  agreed: { text: 'The agreement is made. A paid payment sets it up.', success: true },
  'agreement-cancelled': { text: 'The agreement is cancelled.', success: false },
  'cancelled-before': {
    text: 'Nothing was done: the agreement was cancelled before.',
    success: false,
  },
  registered: {
    text: 'The webhook is registered. Its signing key is on this page.',
    success: true,
  },
  deactivated: { text: 'The webhook is deactivated. It gets no more messages.', success: false },
  resending: {
    text: 'The failed messages are being sent again, one after the other. Refresh the page to see how far it is.',
    success: false,
  },
  'resending-already': {
    text: 'Nothing was begun: failed messages of this account are being sent again already.',
    success: false,
  },
  'none-failed': {
    text: 'Nothing was sent: there is no failed message that can be sent again.',
    success: false,
  },
  'not-sent': { text: 'Nothing was sent.', success: false },
  'signed-out': { text: 'You have signed out.', success: true },
} as const satisfies Record<string, Banner>

/** What the forms do. Without a session nothing of it is done. */
const lost = {
  create: 'No payment was made, and only the amount was kept.',
  agree: 'No agreement was made. Enter it again.',
  'set-up': 'No payment was made.',
  charge: 'No payment was made.',
  'make-account': 'No test account was made.',
  complete: 'The payment was not changed.',
  capture: 'Nothing was captured.',
  cancel: 'Nothing was cancelled.',
  refund: 'Nothing was refunded.',
  send: 'Nothing was sent.',
  resend: 'Nothing was sent.',
  register: 'No webhook was registered. Enter it again.',
  test: 'Nothing was sent.',
  deactivate: 'The webhook was not deactivated.',
  compare: 'Nothing was compared.',
  ask: 'The receiver was not asked.',
  probe: 'The receiver was not probed.',
} as const

export type FormPurpose = keyof typeof lost

/** `pence` is the amount that a refund has. */
export type Done = { code: keyof typeof banners; pence?: number } | { lost: FormPurpose }

const COOKIE = 'farthing_console_done'

/** Seconds within which the next page has to be opened. */
const SECONDS = 60

/** Lets the page `to` show a banner, once. */
export function leaveBanner(
  { request, config }: BannerRequest,
  reply: FastifyReply,
  { to, done }: { to: string; done: Done },
): void {
  const code = 'lost' in done ? `lost-${done.lost}` : done.code
  const [page] = to.split('?', 1)
  const value = [code, 'pence' in done ? done.pence : '', page].join('.')
  void reply.header('set-cookie', cookie(request, config, { name: COOKIE, value }, SECONDS))
}

/** The banner that was left for the page of this request. It is used up with that. */
export function takeBanner(
  { request, config, base }: BannerRequest & { base: string },
  reply: FastifyReply,
): Banner | undefined {
  const [path] = request.originalUrl.split('?', 1)
  for (const value of cookiesNamed(request, COOKIE)) {
    const [code = '', pence = '', page] = value.split('.', 3)
    if (path !== `${base}/${page}`) continue
    void reply.header('set-cookie', cookie(request, config, { name: COOKIE, value: '' }, 0))
    return bannerOf(code, pence)
  }
  return undefined
}

function bannerOf(code: string, pence: string): Banner | undefined {
  const [, purpose = ''] = /^lost-(.*)$/.exec(code) ?? []
  if (Object.hasOwn(lost, purpose))
    return { text: `You were signed out. ${lost[purpose as FormPurpose]}`, success: false } // hasOwn has checked it
  if (!Object.hasOwn(banners, code)) return undefined
  const banner = banners[code as keyof typeof banners] // hasOwn has checked it
  const amount = code === 'refunded' && /^\d{1,9}$/.test(pence) && inPounds(Number(pence))
  return amount ? { ...banner, text: `A refund of ${amount} is submitted.` } : banner
}
