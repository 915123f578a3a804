/** What every page of the console has, and how a page and an action become endpoints. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../../core/account.ts'
import type { Context } from '../../../pay/context.ts'
import { type Addresses, addressesOf } from '../../../platform/http/addresses.ts'
import type { Accepts } from '../../../platform/http/body.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
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
import { type Done, doneBanner } from './banners.ts'
import { isFromOtherSite } from './session.ts'

const SERVICE = 'Farthing console'

const sections = {
  payments: 'Payments',
  requests: 'Requests',
  webhooks: 'Webhooks',
  signature: 'Signature',
}
type Section = keyof typeof sections

/** One request for a page of the console. */
export type Visit = {
  request: FastifyRequest
  /** Relative links to pages of the console begin with it: it leads from the address of this page to `/console/`. */
  root: string
  addresses: Addresses
  /** undefined on the pages where nobody is signed in. */
  account: Account | undefined
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

/** A page of the console, such as `payments?done=captured`, to be opened after an action. */
export type Next = { to: string; done?: Done }

/**
 * Links are relative, so that the console opens at every address of the service. Below `/console` each slash of the
 * request's path leads one level down.
 */
export function rootOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1)
  const levels = path.split('/').length - 3
  return levels < 0 ? 'console/' : '../'.repeat(levels)
}

export const visitOf = (request: FastifyRequest, { config }: Context): Visit => ({
  request,
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

/** A page: `show` returns it, or another page to open, or throws an error, for which there is a page too. */
export const pageRoute = (
  context: Context,
  path: string,
  show: (visit: AccountVisit) => Promise<Next | Page>,
): Route => ({
  method: 'GET',
  path: `/console/${path}`,
  area: 'console',
  handler: async (request, reply) => {
    const visit = accountVisitOf(request, context)
    return sendResult(reply, visit, await show(visit))
  },
})

/** What a form does: `act` reads it, and returns the page to open then, or the page of the form with its errors. */
export const actionRoute = (
  context: Context,
  path: string,
  act: (visit: AccountVisit) => Promise<Next | Page>,
  accepts: Accepts = 'form',
): Route => ({
  method: 'POST',
  path: `/console/${path}`,
  area: 'console',
  accepts,
  handler: async (request, reply) => {
    if (isFromOtherSite(request, context.config)) throw pageFault(403)
    const visit = accountVisitOf(request, context)
    return sendResult(reply, visit, await act(visit))
  },
})

/** For whatever the account has not: unknown, gone, or another account's. */
export const notFound = (): Error => pageFault(404)

const sendResult = (reply: FastifyReply, visit: Visit, result: Next | Page): FastifyReply =>
  'to' in result ? sendNext(reply, visit, result) : sendPage(reply, visit, result)

export function sendNext(reply: FastifyReply, { root }: Visit, { to, done }: Next): FastifyReply {
  const separator = to.includes('?') ? '&' : '?'
  return reply
    .code(303)
    .header('location', `${root}${to}${done ? `${separator}done=${done}` : ''}`)
    .send()
}

export const sendPage = (reply: FastifyReply, visit: Visit, page: Page): FastifyReply =>
  sendHtml(reply, page.status ?? (page.faults ? 400 : 200), documentOf(visit, page))

function documentOf(visit: Visit, { title, section, content, faults }: Page): string {
  const { root, account, request } = visit
  const banner = doneBanner(request.query)
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
    ...(account && { navigation: navigation(root, account, section) }),
  })
}

const navigation = (root: string, { name }: Account, section: Section | undefined): Html =>
  serviceNavigation(
    Object.entries(sections).map(([page, text]) => ({
      text,
      href: `${root}${page}`,
      current: page === section,
    })),
    html`<form class="farthing-account" method="post" action="${root}sign-out">
<span><span class="govuk-visually-hidden">Account: </span><bdi>${name}</bdi></span>
${button({ id: 'sign-out', text: 'Sign out', secondary: true })}
</form>`,
  )
