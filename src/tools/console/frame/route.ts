/** How a page and a form become routes. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CONSOLE_PAGE } from '../../../platform/accounts/seal.ts'
import { type Accepts, formBody, isForm } from '../../../platform/http/body.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { countFails } from '../check/fails.ts'
import type { FormPurpose } from './banners.ts'
import {
  type AccountVisit,
  accountVisitOf,
  insideOf,
  type Next,
  outside,
  type Page,
  sendNext,
  sendPage,
  visitOf,
} from './page.ts'
import { ACCOUNT_FIELD, link, paragraph } from './parts.ts'
import { pageAddress } from './query.ts'
import { isFromOtherSite, signedIn } from './session.ts'

/** A page at `path` below /console; '' for home. `show` returns it, or another page to open, or throws an error, for which there is a page too. */
export const pageRoute = (
  context: ToolContext,
  path: string,
  show: (visit: AccountVisit) => Promise<Next | Page>,
): Route => ({
  method: 'GET',
  path: path === '' ? '/console' : `/console/${path}`,
  area: 'console',
  handler: async (request, reply) => {
    const visit = accountVisitOf(request, context)
    const { account, base } = visit
    // A test account has its name in its addresses, so that two tabs of one browser can show two accounts.
    if (account.parent !== null && base === '/console') {
      const rest = request.originalUrl.slice(base.length).replace(/^\/$/, '')
      return sendNext(reply, visit, { to: insideOf(account) + rest })
    }
    return sendResult(context, reply, visit, await show(visit))
  },
})

type Action = {
  purpose: FormPurpose
  /** A field that is in the form again after a sign-in. It stands in the address: nothing secret or personal may. */
  keeps?: string
  accepts?: Accepts
  /** It can be used in an account that has ended. */
  changesNothing?: true
  /** Reads the form, and returns the page to open then, or the page of the form with its errors. */
  act: (visit: AccountVisit) => Promise<Next | Page>
}

/** A form. Without a session nothing is done, and the page to sign in says so: so its area is that page's. */
export const actionRoute = (context: ToolContext, path: string, action: Action): Route => ({
  method: 'POST',
  path: `/console/${path}`,
  area: 'sign-in',
  accepts: action.accepts ?? 'form',
  handler: async (request, reply) => {
    if (isFromOtherSite(request, context.config)) throw pageFault(403)
    if (!(await signedIn(context, request))) return sendSignedOut(context, request, reply, action)
    // A page that is shown again has what was recorded until now.
    await context.recorder?.write()
    const visit = accountVisitOf(request, context)
    const refused = otherAccount(visit) ?? (action.changesNothing ? undefined : endedAccount(visit))
    return sendResult(context, reply, visit, refused ?? (await action.act(visit)))
  },
})

async function sendResult(
  context: ToolContext,
  reply: FastifyReply,
  visit: AccountVisit,
  result: Next | Page,
): Promise<FastifyReply> {
  if ('to' in result) return sendNext(reply, visit, result)
  const fails = await countFails(context, visit.account)
  return sendPage(reply, { ...visit, fails }, result)
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

/** The page of a form is at its address or one level above. */
function sendSignedOut(
  context: ToolContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { purpose, keeps }: Action,
): FastifyReply {
  const page = pageOfAddress(request.originalUrl.replace(new RegExp(`/${purpose}$`), ''))
  const to = signInFirst(
    page && keeps ? pageAddress(page, { [keeps]: formBody(request).get(keeps) ?? '' }) : page,
  )
  return sendNext(reply, outside(visitOf(request, context)), { to, done: { lost: purpose } })
}

/** The page that says that nothing can be done, if the account has ended. */
export function endedAccount({ home, hasEnded }: AccountVisit): Page | undefined {
  if (!hasEnded) return undefined
  const title = 'This test account has ended'
  return {
    title,
    status: 409,
    content: html`<h1 class="govuk-heading-l">${title}</h1>
${paragraph('Nothing was done.')}
${paragraph(link(home, 'Read its pages'))}`,
  }
}

/**
 * The page that says so, if the browser has signed in to another account since it opened the page of the form.
 * Nothing may be done then.
 */
export function otherAccount(visit: Omit<AccountVisit, 'now'>): Page | undefined {
  const { home, account, request } = visit
  const from = isForm(request) ? formBody(request).get(ACCOUNT_FIELD) : null
  if (from === null || from === account.name) return undefined
  const heading = html`You are now in <bdi>${account.name}</bdi>`
  return {
    title: 'You are now in another account',
    status: 409,
    content: html`<h1 class="govuk-heading-l">${heading}</h1>
${paragraph(html`Nothing was done. The page that you used is one of the account <bdi>${from}</bdi>, and this browser has signed in to <bdi>${account.name}</bdi> since.`)}
${paragraph(html`${link(home, 'Go to the home page of this account')}, or sign out and sign in with a key of the other.`)}`,
  }
}
