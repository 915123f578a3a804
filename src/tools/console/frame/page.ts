import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Account, givenName } from '../../../core/account.ts'
import { inPounds } from '../../../core/money.ts'
import { cookiesNamed, setCookie } from '../../../platform/accounts/session.ts'
import { formBody, isForm } from '../../../platform/http/body.ts'
import {
  button,
  errorSummary,
  insetText,
  notificationBanner,
  serviceNavigation,
} from '../../../platform/web/components.ts'
import { sendHtml } from '../../../platform/web/headers.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import * as layout from '../../../platform/web/layout.ts'
import type { Fails } from '../../explain/check/report.ts'
import * as ui from './parts.ts'
import {
  type AccountVisit,
  type ConsoleContext,
  outside,
  pageOfAddress,
  type Section,
  signInFirst,
  type Visit,
  visitOf,
} from './visit.ts'

const SERVICE = 'Farthing console'

export type Page = {
  /** The title of the document, and the heading unless `heading` is set. */
  title: string
  heading?: Html
  above?: Part
  content: Part
  narrow?: boolean | undefined
  /** The path of the page that the navigation marks as the current one. */
  section?: string
  /** Default: 200, or 400 for a page with errors. */
  status?: number
  errors?: Readonly<Record<string, string>> | undefined
  /** For a live page: the ETag of its content, and whether its script polls less often. */
  live?: { tag: string; isSlow: boolean }
  /** The number of fails beside *Check* in the navigation. */
  fails?: Fails
}

/** The page to open after an action, such as `payments?status=failed` or '' for home, and the banner that it shows. */
export type Next = { to: string; done?: Code; pence?: number | undefined }

/** The most characters of the address of the next page. A longer address loses its query. */
const LONGEST_NEXT = 2_048

/** A cookie names the banner. The page `to` deletes the cookie, so that a reload does not show the banner again. */
export function sendNext(reply: FastifyReply, visit: Visit, { to, done, pence }: Next) {
  if (done) {
    const value = [done, pence, ...to.split('?', 1)].join('.')
    setCookie(visit.request, reply, visit.config, { name: COOKIE, value, seconds: SECONDS })
  }
  const next = to.length > LONGEST_NEXT ? to.replace(/\?.*/, '') : to
  return reply
    .code(303)
    .header('location', next === '' ? visit.home : visit.root + next)
    .send()
}

export function sendPage(reply: FastifyReply, visit: Visit, page: Page): FastifyReply {
  const { title, heading: itsHeading, above, content, narrow, errors, live, status } = page
  if (live) void reply.header('etag', live.tag)
  const banner = takeBanner(visit, reply)
  const { site, account, hasEnded } = visit
  const body = html`${above && html`${above}\n`}${itsHeading ?? ui.heading(title)}
${content}`
  const parts = html`
${
  live &&
  html`<div hidden data-live="${live.tag}"${live.isSlow && html` data-slow`} data-account="${account?.name}" data-now="${visit.now}"></div>`
}
${
  errors &&
  errorSummary(
    'There is a problem',
    Object.entries(errors).map(([name, text]) => ({ text, href: `#${name}` })),
  )
}
${banner && notificationBanner(banner.text, { success: banner.success })}
${
  account &&
  visit.base !== '/console' &&
  html`<p class="govuk-body farthing-inside">Test account <strong><bdi>${givenName(account)}</bdi></strong>${visit.request.raw.isParents && html` · <a class="govuk-link" href="${site}/console">back to <bdi>${account.parent ?? ''}</bdi></a>`}</p>
`
}${hasEnded && insetText('This test account has ended. Nothing can be done in it any more. Its pages can be read until its data is deleted.')}
${narrow ? layout.twoThirds(body) : body}`
  const shell = { ...layout.englishShell, basePath: site, language: 'en', serviceName: SERVICE }
  const name = [`${errors ? 'Error: ' : ''}${title}`, account && givenName(account), SERVICE]
    .filter(Boolean)
    .join(' - ')
  const document = layout.page(shell, name, parts, {
    more: 'console',
    links: [
      { text: 'Front page', href: `${site}/` },
      { text: 'API documentation', href: `${site}/docs` },
    ],
    ...(account && { navigation: navigation(visit, account, page) }),
  })
  return sendHtml(reply, status ?? (errors ? 400 : 200), document)
}

/** Such as ` (2)`, or ` (2 at 08:20:31)` for a number that may have changed since. */
function countText({ fails, at }: Fails = { fails: 0 }, now: number): string {
  if (at !== undefined) return ` (${fails} at ${ui.shortTime(at, now, 'seconds')})`
  return fails > 0 ? ` (${fails})` : ''
}

function navigation(
  { sections, root, home, site, base, now = 0 }: Visit,
  account: Account,
  { section, fails }: Page,
): Html {
  const addressOf = (path = '') => (path === '' ? home : root + path)
  const isCurrent = ({ pages }: Section) => pages.some(({ path }) => path === section)
  const entries = sections.map(section => ({
    text: `${section.text}${section.isCounted ? countText(fails, now) : ''}`,
    href: addressOf(section.pages[0]?.path),
    current: isCurrent(section),
  }))
  // A page of a test account may belong to the session of its parent: then the form must not name an account.
  const signOut = ui.postForm(
    base === '/console' ? account : undefined,
    `${site}/console/sign-out`,
    html`<span><span class="govuk-visually-hidden">Account: </span><a class="govuk-link" href="${root}accounts"><bdi>${givenName(account)}</bdi></a> · <span class="govuk-visually-hidden">Behaviour: </span>${account.behaviour}</span>
${button({ id: 'sign-out', text: 'Sign out', secondary: true })}`,
    'farthing-account',
  )
  const group = sections.find(section => section.pages.length > 1 && isCurrent(section))
  return html`${serviceNavigation(entries, signOut)}
${
  group &&
  html`<nav class="farthing-below govuk-width-container" aria-label="${group.text}"><ul>
${group.pages.map(
  ({ path, text }) =>
    html`<li><a class="govuk-link" href="${addressOf(path)}"${path === section && html` aria-current="true"`}>${text}</a></li>\n`,
)}${group.others?.map(({ path, text }) => html`<li><a class="govuk-link" href="${site}${path}">${text}</a></li>`)}</ul></nav>`
}`
}

/** Leads to the page to sign in, and then back to the page of the form: at the form's address or one level above. */
export function sendSignedOut(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: string,
): FastifyReply {
  const [path = '', ...query] = request.originalUrl.split('?')
  const above = path.endsWith(`/${purpose}`) ? path.slice(0, -purpose.length - 1) : path
  const page = pageOfAddress([above, ...query].join('?'))
  const next: Next = { to: signInFirst(page), done: 'lost' }
  return sendNext(reply, outside(visitOf(request, context)), next)
}

export const endedAccount = ({ home, hasEnded }: AccountVisit): Page | undefined =>
  hasEnded
    ? {
        title: 'This test account has ended',
        status: 409,
        content: html`${ui.paragraph('Nothing was done.')}
${ui.paragraph(ui.link(home, 'Read its pages'))}`,
      }
    : undefined

export const inAnother = (account: Account): Pick<Page, 'title' | 'heading'> => ({
  title: 'You are now in another account',
  heading: ui.heading(html`You are now in <bdi>${givenName(account)}</bdi>`),
})

/**
 * The page that refuses a request because the browser has signed in to another account since it opened the page from
 * which the request came (with a form, or by the script of a live page). undefined if the account is the same.
 */
export function otherAccount(visit: Visit & { account: Account }): Page | undefined {
  const { home, account, request } = visit
  const form = isForm(request) ? formBody(request).get(ui.ACCOUNT_FIELD) : null
  const from = form ?? request.headers[ui.ACCOUNT_HEADER] ?? null
  if (from === null || from === account.name || from === givenName(account)) return undefined
  return {
    ...inAnother(account),
    status: 409,
    content: html`${ui.paragraph(html`Nothing was done. The page that you used is one of the account <bdi>${givenName({ name: String(from) })}</bdi>, and this browser has signed in to <bdi>${givenName(account)}</bdi> since.`)}
${ui.paragraph(html`${ui.link(home, 'Go to the home page of this account')}, or sign out and sign in with a key of the other.`)}`,
  }
}

const successes = {
  created: 'The payment is created. Open its page to pay it.',
  'created-without-page':
    'The payment is created. It has no page: press a button for what the card does, or let your service send the card.',
  chosen: 'The payment is created. Open its page: then it ends as you chose.',
  'chosen-without-page':
    'The payment is created. It has no page, and ends as you chose once your service sends the card.',
  charged: 'The charge is made, and has not ended yet. Press a button to end it now.',
  succeeded: 'The payment succeeded.',
  authorised: 'The payment is authorised. Capture it to make it a success.',
  captured: 'The payment is captured.',
  'refund-succeeded': 'The refund succeeds.',
  refunded: 'The refund is made.',
  agreed: 'The agreement is made. A paid payment sets it up.',
  registered: 'The webhook is registered. Its signing key is on this page.',
  'clock-moved': 'The clock is moved, and what fell due is done.',
  planned: 'It is planned. It acts on the next request to the API, or message, that it concerns.',
  'plan-removed': 'The plan is removed.',
  emptied: 'The account is empty, and its clock is that of the machine.',
  'account-ended': 'The test account has ended.',
  'signed-out': 'You have signed out.',
} as const

const others = {
  declined: 'The card was declined. The payment has failed (P0010).',
  error: 'The provider had an error. The payment has ended (P0050).',
  cancelled: 'The user cancelled. The payment has failed (P0030).',
  expired: 'The payment has expired. It has failed (P0020).',
  'refund-failed': 'The refund fails, and its amount can be refunded again.',
  'capture-failed': 'The capture failed. The payment has ended (P0050).',
  'cancelled-by-api': 'The payment was cancelled through the API (P0040).',
  overtaken: 'Nothing was done: another request changed the payment first.',
  'agreement-cancelled': 'The agreement is cancelled.',
  deactivated: 'The webhook is deactivated. It gets no more messages.',
  resending:
    'The failed messages are being sent again, one after the other. Refresh the page to see how far it is.',
  'resending-already':
    'Nothing was begun: messages of this account are being sent by hand already.',
  'none-failed': 'Nothing was sent: there is no failed message that can be sent again.',
  'not-sent': 'Nothing was sent.',
  'not-ended': 'Nothing was done: there is no such test account.',
  lost: 'You were signed out. Nothing was done: do it again.',
} as const

export type Code = keyof typeof successes | keyof typeof others

const COOKIE = 'farthing_console_done'

/** Seconds within which the next page must be opened to show the banner. */
const SECONDS = 60

function takeBanner({ request, config, base }: Visit, reply: FastifyReply) {
  const [path] = request.originalUrl.split('?', 1)
  for (const value of cookiesNamed(request, COOKIE)) {
    const [code = '', pence = '', page] = value.split('.', 3)
    if (path !== `${base}/${page}`) continue
    setCookie(request, reply, config, { name: COOKIE, value: '', seconds: 0 })
    if (code === 'refunded' && /^\d{1,9}$/.test(pence))
      return { text: `A refund of ${inPounds(Number(pence))} is made.`, success: true }
    const text = new Map(Object.entries({ ...successes, ...others })).get(code)
    return text === undefined ? undefined : { text, success: Object.hasOwn(successes, code) }
  }
  return undefined
}
