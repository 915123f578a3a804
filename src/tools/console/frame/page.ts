/** What every page of the console has. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../../core/account.ts'
import type { Config } from '../../../core/config.ts'
import type { Context } from '../../../pay/context.ts'
import { type Addresses, addressesOf } from '../../../platform/http/addresses.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { isStorable } from '../../../platform/http/fields.ts'
import {
  button,
  errorSummary,
  notificationBanner,
  serviceNavigation,
} from '../../../platform/web/components.ts'
import { sendHtml } from '../../../platform/web/headers.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import * as layout from '../../../platform/web/layout.ts'
import { type Banner, type Done, leaveBanner, takeBanner } from './banners.ts'
import { postForm } from './parts.ts'

const SERVICE = 'Farthing console'

const sections = {
  home: 'Home',
  payments: 'Payments',
  agreements: 'Agreements',
  deliveries: 'Deliveries',
  webhooks: 'Webhooks',
  requests: 'Requests',
  signature: 'Signature',
  check: 'Check',
}
type Section = keyof typeof sections

/** One request for a page of the console. */
export type Visit = {
  request: FastifyRequest
  config: Config
  /** Relative links to pages of the console begin with it: it leads from the address of this page to `/console/`. */
  root: string
  addresses: Addresses
  /** undefined on the pages where nobody is signed in. */
  account: Account | undefined
  /** The number beside *Check*. */
  fails?: number
}

/** A request by a person who is signed in. `now` is the account's time. */
export type AccountVisit = Visit & { account: Account; now: number }

export type Page = {
  /** The title; the content has the heading. */
  title: string
  section?: Section
  content: Html
  /** Unless said otherwise 200, or 400 with faults. */
  status?: number
  /** Faults in the form, by field. */
  faults?: Readonly<Record<string, string>> | undefined
}

/** A page of the console, such as `payments?status=failed`, or '' for home, to be opened after an action, and the banner that it shows. */
export type Next = { to: string; done?: Done }

/**
 * Links are relative, so that the console opens at every address of the service. Below `/console` each slash of the
 * request's path leads one level down.
 */
function rootOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1)
  const levels = path.split('/').length - 3
  return levels < 0 ? 'console/' : '../'.repeat(levels)
}

/** The address of the home page: it has no slash at its end, because the front page links to it without one. */
export const homeOf = (root: string): string => `${root}../console`

export const visitOf = (request: FastifyRequest, { config }: Context): Visit => ({
  request,
  config,
  root: rootOf(request),
  addresses: addressesOf(request, config),
  account: undefined,
})

export function accountVisitOf(request: FastifyRequest, context: Context): AccountVisit {
  const { account } = request
  return { ...visitOf(request, context), account, now: context.time.now(account) }
}

/** The named parameters of the query. Missing, repeated and unusable ones are ''. */
export function textsIn<Name extends string>(
  { request }: Visit,
  names: readonly Name[],
): Record<Name, string> {
  const query = request.query as Record<string, unknown> // Fastify types it as unknown
  const read = names.map(name => {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    return [name, typeof value === 'string' && isStorable(value) ? value : '']
  })
  return Object.fromEntries(read) as Record<Name, string> // each name was read
}

/** For whatever the account has not: unknown, gone, or another account's. */
export const notFound = (): Error => pageFault(404)

export function sendNext(reply: FastifyReply, visit: Visit, { to, done }: Next): FastifyReply {
  if (done) leaveBanner(visit, reply, { to, done })
  return reply
    .code(303)
    .header('location', to === '' ? homeOf(visit.root) : visit.root + to)
    .send()
}

export const sendPage = (reply: FastifyReply, visit: Visit, page: Page): FastifyReply =>
  sendHtml(
    reply,
    page.status ?? (page.faults ? 400 : 200),
    documentOf(visit, page, takeBanner(visit, reply)),
  )

function documentOf(
  visit: Visit,
  { title, section, content, faults }: Page,
  banner: Banner | undefined,
): string {
  const { root, account, fails = 0 } = visit
  const parts = html`
${
  faults &&
  errorSummary(
    'There is a problem',
    Object.entries(faults).map(([name, text]) => ({ text, href: `#${name}` })),
  )
}
${banner && notificationBanner(banner.text, { success: banner.success })}
${content}`
  const shell = {
    ...layout.englishShell,
    basePath: `${root}..`,
    language: 'en',
    serviceName: SERVICE,
  }
  const name = `${faults ? 'Error: ' : ''}${title} - ${SERVICE}`
  return layout.page(shell, name, parts, {
    more: 'console',
    links: [
      { text: 'Front page', href: `${root}../` },
      { text: 'API documentation', href: `${root}../docs` },
    ],
    ...(account && { navigation: navigation(root, account, { section, fails }) }),
  })
}

const navigation = (
  root: string,
  account: Account,
  { section, fails }: { section: Section | undefined; fails: number },
): Html =>
  serviceNavigation(
    Object.entries(sections).map(([page, text]) => ({
      text: page === 'check' && fails > 0 ? `${text} (${fails})` : text,
      href: page === 'home' ? homeOf(root) : `${root}${page}`,
      current: page === section,
    })),
    postForm(
      account,
      `${root}sign-out`,
      html`<span><span class="govuk-visually-hidden">Account: </span><bdi>${account.name}</bdi></span>
${button({ id: 'sign-out', text: 'Sign out', secondary: true })}`,
      'farthing-account',
    ),
  )
