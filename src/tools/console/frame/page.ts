/** What every page of the console has. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Account, givenName } from '../../../core/account.ts'
import type { Config } from '../../../core/config.ts'
import type { AccountTime, MachineTime } from '../../../core/ports.ts'
import { CONSOLE_PAGE } from '../../../platform/accounts/seal.ts'
import { type Addresses, addressesOf } from '../../../platform/http/addresses.ts'
import type { Endpoint } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { isStorable } from '../../../platform/http/fields.ts'
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
import type { ToolContext } from '../../context.ts'
import { type Done, leaveBanner, takeBanner } from './banners.ts'
import type { Fails } from './fails.ts'
import { heading, postForm } from './parts.ts'
import { shortTime } from './times.ts'

const SERVICE = 'Farthing console'

/** An entry of the navigation, and the pages below it; the first is that which it leads to. */
export type Section = { text: string; pages: { path: string; text: string }[] }

export type ConsoleContext = ToolContext & {
  /** The endpoints whose requests the console shows. */
  operations: readonly Endpoint[]
  /** What each operation does, in words, by its operationId. */
  summaries: ReadonlyMap<string, string>
  sections: readonly Section[]
}

/** One request for a page of the console. */
export type Visit = {
  request: FastifyRequest
  config: Config
  sections: readonly Section[]
  /**
   * Relative links to pages of the account begin with it: it leads from the address of this page to `/console/`, or to
   * `/console/a/NAME/` of a test account.
   */
  root: string
  /** The relative address of the home page. It has no slash at its end, as in the links that lead to it. */
  home: string
  /** Leads to the front page, without a slash at its end. */
  site: string
  /** `/console` or `/console/a/NAME`. */
  base: string
  addresses: Addresses
  /** undefined on the pages where nobody is signed in. */
  account: Account | undefined
  /** The number beside *Check*. */
  fails?: Fails
  /** The account has ended: its pages can only be read. */
  hasEnded?: boolean | undefined
}

/** A request by a person who is signed in, and the service that answers it. */
export type AccountVisit = Visit & {
  context: ConsoleContext
  account: Account
  /** The account's time, and the machine's. */
  now: AccountTime
  wall: MachineTime
}

export type Page = {
  /** The title, and the heading unless there is another. */
  title: string
  heading?: Html
  /** Above the heading. */
  above?: Part
  content: Part
  /** It is narrower than a wide screen. */
  narrow?: true | undefined
  /** The path of the entry of the navigation that is current. */
  section?: string
  /** Unless said otherwise 200, or 400 with errors. */
  status?: number
  /** Errors in the form, by field. */
  errors?: Readonly<Record<string, string>> | undefined
  /** Of a page that is live: the ETag of what it shows, and whether its script asks for it less often. */
  live?: { tag: string; isSlow: boolean }
}

/** A page of the console, such as `payments?status=failed`, or '' for home, to be opened after an action, and the banner that it shows. */
export type Next = { to: string; done?: Done }

/**
 * Links are relative, so that the console opens at every address of the service. Below `/console` each slash of the
 * request's path leads one level down.
 */
function placeOf({ originalUrl }: FastifyRequest): Pick<Visit, 'root' | 'home' | 'site' | 'base'> {
  const [path = ''] = originalUrl.split('?', 1)
  const [inside] = /^\/console\/a\/[^/]+/.exec(path) ?? []
  const base = inside ?? '/console'
  const name = base.slice(base.lastIndexOf('/') + 1)
  const levels = path.slice(base.length).split('/').length - 2
  const root = levels < 0 ? `${name}/` : '../'.repeat(levels)
  return { root, home: `${root}../${name}`, site: `${root}${inside ? '../../..' : '..'}`, base }
}

/** The pages of a test account, below the root of its parent's. */
export const insideOf = (account: Pick<Account, 'name'>): string =>
  `a/${encodeURIComponent(givenName(account))}`

/** The same place among the pages of the account whose key signed in, where the pages to sign in are. */
export const outside = (visit: Visit): Visit =>
  visit.base === '/console'
    ? visit
    : {
        ...visit,
        root: `${visit.site}/console/`,
        home: `${visit.site}/console`,
        base: '/console',
      }

export const visitOf = (
  request: FastifyRequest,
  { config, sections }: Pick<ConsoleContext, 'config' | 'sections'>,
): Visit => ({
  request,
  config,
  sections,
  ...placeOf(request),
  addresses: addressesOf(request, config),
  account: undefined,
})

export function accountVisitOf(request: FastifyRequest, context: ConsoleContext): AccountVisit {
  const { account } = request
  const { hasEnded } = request.raw
  const { time } = context
  const times = { now: time.now(account), wall: time.wall() }
  return { ...visitOf(request, context), context, account, ...times, hasEnded }
}

/** The named parameters of the query. Missing, repeated and unusable ones are ''. */
export function textsIn<Name extends string>({ request }: Visit, names: readonly Name[]) {
  const query = request.query as Record<string, unknown> // Fastify types it as unknown
  const read = names.map(name => {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    return [name, typeof value === 'string' && isStorable(value) ? value : '']
  })
  return Object.fromEntries(read) as Record<Name, string> // each name was read
}

/** An address of the console without the leading `/console/`; undefined for what no page can have, or no header. */
export function pageOfAddress(url: string): string | undefined {
  const [, path = '', query = ''] = /^([^?]*)\??([!-~]*)$/.exec(url) ?? []
  const page = path.replace(/^\/console\//, '').replace(/\/$/, '')
  if (!CONSOLE_PAGE.test(page)) return undefined
  return query ? `${page}?${query}` : page
}

/** Leads to the page to sign in, and from there back to `page`. */
export const signInFirst = (page: string | undefined): string =>
  page === undefined ? 'sign-in' : `sign-in?${new URLSearchParams({ to: page })}`

/** For what the account does not have: it is unknown, gone, or another account's. */
export const notFound = (): Error => pageFault(404)

/** Throws `notFound` where there is nothing. */
export function existing<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw notFound()
  return thing
}

/** Characters of an address to which a form leads. A longer one loses its query. */
const LONGEST_NEXT = 2_048

export function sendNext(reply: FastifyReply, visit: Visit, { to, done }: Next): FastifyReply {
  if (done) leaveBanner(visit, reply, { to, done })
  const next = to.length > LONGEST_NEXT ? to.replace(/\?.*/, '') : to
  return reply
    .code(303)
    .header('location', next === '' ? visit.home : visit.root + next)
    .send()
}

export function sendPage(
  reply: FastifyReply,
  visit: Visit | AccountVisit,
  page: Page,
): FastifyReply {
  const { title, heading: itsHeading, above, content, narrow, section, errors, live, status } = page
  if (live) void reply.header('etag', live.tag)
  const banner = takeBanner(visit, reply)
  const { site, account, hasEnded } = visit
  const body = html`${above && html`${above}\n`}${itsHeading ?? heading(title)}
${content}`
  const parts = html`
${
  live &&
  html`<div hidden data-live="${live.tag}"${live.isSlow && html` data-slow`} data-account="${account?.name}" data-now="${'now' in visit && visit.now}"></div>`
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
  html`<p class="govuk-body farthing-inside">Test account <strong><bdi>${givenName(account)}</bdi></strong> · <a class="govuk-link" href="${site}/console">back to <bdi>${account.parent ?? ''}</bdi></a></p>
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
    ...(account && { navigation: navigation(visit, account, section) }),
  })
  return sendHtml(reply, status ?? (errors ? 400 : 200), document)
}

/** Such as ` (2)`, or ` (2 at 08:20:31)` of a number that may be another by now. */
function countText({ fails, at }: Fails = { fails: 0 }, now: number): string {
  if (at !== undefined) return ` (${fails} at ${shortTime(at, now, 'seconds')})`
  return fails > 0 ? ` (${fails})` : ''
}

function navigation(
  { sections, root, home, site, base, fails, ...visit }: Visit | AccountVisit,
  account: Account,
  section: string | undefined,
): Html {
  const addressOf = (path = '') => (path === '' ? home : root + path)
  const isCurrent = ({ pages }: Section) => pages.some(({ path }) => path === section)
  const entries = sections.map(each => ({
    text:
      each.text === 'Check'
        ? `Check${countText(fails, 'now' in visit ? visit.now : 0)}`
        : each.text,
    href: addressOf(each.pages[0]?.path),
    current: isCurrent(each),
  }))
  // The pages of a test account may have been opened with the key of its parent.
  const signOut = postForm(
    base === '/console' ? account : undefined,
    `${site}/console/sign-out`,
    html`<span><span class="govuk-visually-hidden">Account: </span><a class="govuk-link" href="${root}accounts"><bdi>${givenName(account)}</bdi></a> · <span class="govuk-visually-hidden">Behaviour: </span>${account.behaviour}</span>
${button({ id: 'sign-out', text: 'Sign out', secondary: true })}`,
    'farthing-account',
  )
  const group = sections.find(each => each.pages.length > 1 && isCurrent(each))
  return html`${serviceNavigation(entries, signOut)}
${
  group &&
  html`<nav class="farthing-below govuk-width-container" aria-label="${group.text}"><ul>
${group.pages.map(
  ({ path, text }) =>
    html`<li><a class="govuk-link" href="${addressOf(path)}"${path === section && html` aria-current="true"`}>${text}</a></li>\n`,
)}${group.text === 'More' && html`<li><a class="govuk-link" href="${site}/docs">API</a></li>`}</ul></nav>`
}`
}
