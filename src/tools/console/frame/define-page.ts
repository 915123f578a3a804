/** A page of the console is one object: its address, its filters and forms, what it reads and what it shows. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accepts } from '../../../platform/http/body.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { isFromOtherSite } from '../../../platform/web/headers.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { countFails, type Fails } from './fails.ts'
import {
  type Errors,
  type Filters,
  isFirst,
  type PageVisit,
  pageAddress,
  problemsIn,
  valuesIn,
} from './list.ts'
import { type Look, liveHeading, newestIn, sendLook, shownBy, tagOf } from './live.ts'
import {
  accountVisitOf,
  type ConsoleContext,
  insideOf,
  type Next,
  type Page,
  sendNext,
  sendPage,
  textsIn,
  type Visit,
  visitOf,
} from './page.ts'
import { heading, postForm } from './parts.ts'
import { NotInside, signedIn } from './session.ts'
import { endedAccount, otherAccount, sendSignedOut } from './sign-in.ts'

/** What an action has for the page on which it stands: errors at the fields, for example. */
type Answer = { errors?: Errors | undefined }

type FormAction<F extends Filters, A extends Answer> = {
  accepts?: Accepts
  /** It can be used in an account that has ended. */
  changesNothing?: true
  /** The form is sent to the address of the page, and not to one below it. */
  isAtPage?: true
  /** Reads the form, and returns the page to open then, a page of its own, or an answer for this page. */
  run: (visit: PageVisit<F>) => Promise<Next | Page | A>
}

type Definition<F extends Filters, Data, A extends Answer> = {
  /** Below /console; '' for home. It has one parameter at most. */
  path: string
  /** Its entry in the navigation, which is its title too unless it has one. */
  navigation?: string
  /** The entry below which it stands. The first page of a group is that which the entry leads to. */
  below?: 'Webhooks' | 'More'
  /** The path of the entry that is current, if it is not the first part of `path`. */
  section?: string
  filters?: F
  /** The content for visitors who are not signed in to this account. It must not depend on the identifier. */
  guest?: (visit: Visit) => Part
  /** The page is for making something, so an account that has ended has none. */
  makes?: true
  /** The page that is opened instead, if there is one. */
  instead?: (visit: PageVisit<F>) => Promise<string | undefined>
  /** Returns what the page shows. Throws `notFound`. Keep it above `title` and `show`: the compiler infers their data from it. */
  read?: (visit: PageVisit<F>, answer?: A) => Promise<Data>
  title?: string | ((visit: PageVisit<F>, data: Data) => string)
  /** Its heading, if that is not its title. */
  heading?: (visit: PageVisit<F>, data: Data) => Part
  /** Above the heading, such as the way back. */
  above?: (visit: PageVisit<F>, data: Data) => Part
  /** What is below the heading. Pure. */
  show: (visit: PageVisit<F>, data: Data, answer?: A) => Part
  narrow?: true
  /**
   * The page says when what it shows has changed. A function tells that faster than reading and showing all of it would:
   * `since` is the newest entry that the browser shows.
   */
  live?: true | ((visit: PageVisit<F>, since: string) => Promise<Look>)
  /** The number beside *Check* in the navigation, if `read` has counted it already. */
  fails?: (data: Data) => Fails
  /** The identifiers of what a live list shows, if it begins with the newest. */
  entries?: (data: Data) => readonly string[]
  /** The forms of the page, by the last part of their addresses. */
  actions?: Readonly<Record<string, FormAction<F, A>>>
}

export type ConsolePage = ReturnType<typeof definePage>

/** Any page, for the code that serves them all. */
type AnyPage = Definition<Filters, unknown, Answer>

export function definePage<const F extends Filters, Data, A extends Answer>(
  definition: Definition<F, Data, A>,
) {
  const page = definition as unknown as AnyPage // its functions get what it has returned itself
  const actions = Object.entries(page.actions ?? {})
  return {
    path: page.path,
    /** The paths of its forms. */
    forms: actions.map(([name, { isAtPage }]) => (isAtPage ? page.path : `${page.path}/${name}`)),
    navigation: page.navigation,
    below: page.below,
    routes: (context: ConsoleContext): Route[] => [
      pageRoute(context, page),
      ...actions.map(([name, action]) => actionRoute(context, page, name, action)),
    ],
  }
}

/** The form of an action of the page; none in an account that has ended. */
export const actionForm = (
  { account, here, back, hasEnded, actions }: PageVisit,
  purpose: string,
  content: Part,
  className?: string,
): Html | false => {
  if (!actions.includes(purpose)) throw new Error(`this page has no action ${purpose}`)
  const address = pageAddress(`${here}/${purpose}`, { back })
  return !hasEnded && postForm(account, address, content, className)
}

const pathBelow = (...parts: string[]): string =>
  ['/console', ...parts].filter(part => part !== '').join('/')

const pageRoute = (context: ConsoleContext, page: AnyPage): Route => ({
  method: 'GET',
  path: pathBelow(page.path),
  area: page.guest ? 'sign-in' : 'console',
  handler: async (request, reply) => {
    if (page.guest && !(await isSignedIn(context, request))) {
      const guest = visitOf(request, context)
      const content = page.guest(guest)
      return sendPage(reply, guest, { title: `${page.title}`, content, narrow: page.narrow })
    }
    const visit = pageVisitOf(request, context, page)
    const { account, base } = visit
    const refused = otherAccount(visit) ?? (page.makes && endedAccount(visit))
    if (refused) return sendWhole(reply, visit, refused)
    // A test account has its name in its addresses, so that two tabs of one browser can show two accounts.
    if (account.parent !== null && base === '/console') {
      const rest = request.originalUrl.slice(base.length).replace(/^\/$/, '')
      return sendNext(reply, visit, { to: insideOf(account) + rest })
    }
    const to = await page.instead?.(visit)
    return to === undefined ? respond(page, visit, reply) : sendNext(reply, visit, { to })
  },
})

/** False also at the address of an account that the session does not open. */
const isSignedIn = (context: ConsoleContext, request: FastifyRequest): Promise<boolean> =>
  signedIn(context, request).catch(error => {
    if (error instanceof NotInside) return false
    throw error
  })

/** A form. Without a session nothing is done, and the page to sign in says so: so its area is that page's. */
const actionRoute = (
  context: ConsoleContext,
  page: AnyPage,
  purpose: string,
  action: FormAction<Filters, Answer>,
): Route => ({
  method: 'POST',
  path: pathBelow(page.path, action.isAtPage ? '' : purpose),
  area: 'sign-in',
  accepts: action.accepts ?? 'form',
  handler: async (request, reply) => {
    if (isFromOtherSite(request, context.config)) throw pageFault(403)
    if (!(await signedIn(context, request))) return sendSignedOut(context, request, reply, purpose)
    // A page that is sent again has what was recorded until now.
    await context.recorder?.write()
    const visit = pageVisitOf(request, context, page)
    const refused = otherAccount(visit) ?? (action.changesNothing ? undefined : endedAccount(visit))
    if (refused) return sendWhole(reply, visit, refused)
    const result = await action.run(visit)
    if ('to' in result) return sendNext(reply, visit, result)
    if ('content' in result) return sendWhole(reply, visit, result)
    return respond(page, visit, reply, result)
  },
})

function pageVisitOf(
  request: FastifyRequest,
  context: ConsoleContext,
  { path, filters = {}, actions = {} }: AnyPage,
): PageVisit {
  const visit = accountVisitOf(request, context)
  const [, parameter = ''] = /\{(\w+)\}/.exec(path) ?? []
  const id = pathParam(request, parameter)
  const values = valuesIn(visit, filters)
  const { before, after, back } = textsIn(visit, ['before', 'after', 'back'])
  return {
    ...visit,
    id,
    here: path === '' ? visit.home : visit.root + path.replace(`{${parameter}}`, id),
    filters,
    values,
    errors: problemsIn(filters, values, visit.now),
    cursor: { before: before || undefined, after: after || undefined },
    back,
    actions: Object.keys(actions),
  }
}

/** The page, or what has changed since the browser opened it. `answer` is that of an action. */
async function respond(page: AnyPage, visit: PageVisit, reply: FastifyReply, answer?: Answer) {
  const work = () => makePage(page, visit, answer)
  // A check takes a turn itself, which equal checks share.
  const made = await (page.fails ? work() : visit.context.reading(visit.request, Symbol(), work))
  if (made.look) return sendLook(reply, made.browserTag, made.look)
  return sendWhole(reply, visit, made.whole, made.fails)
}

async function makePage(page: AnyPage, visit: PageVisit, answer?: Answer) {
  const { path, navigation = path, title = navigation, section = path.replace(/\/.*/, '') } = page
  const live = Object.keys(visit.errors).length > 0 ? undefined : page.live
  const browserTag = live && shownBy(visit.request)
  // Before the page is read: what changes meanwhile is then announced, and not overlooked.
  const quick =
    typeof live === 'function' ? await live(visit, newestIn(browserTag || '')) : undefined
  if (quick && browserTag) return { browserTag, look: quick }
  const data = await page.read?.(visit, answer)
  const itsTitle = typeof title === 'string' ? title : title(visit, data)
  const text = page.heading?.(visit, data) ?? itsTitle
  const head = live ? liveHeading(visit, text) : heading(text)
  const content = page.show(visit, data, answer)
  const shown = () => html`${head}${answer ? page.show(visit, data) : content}`
  const look = quick ?? (live && lookAt(visit, page.entries?.(data) ?? [], shown()))
  if (look && browserTag) return { browserTag, look }
  const errors = answer?.errors ?? visit.errors
  const isSlow = Object.entries(visit.filters).some(
    ([name, filter]) => filter.isSlow && visit.values[name] !== '',
  )
  const whole: Page = {
    title: itsTitle,
    heading: head,
    above: page.above?.(visit, data),
    content,
    narrow: page.narrow,
    section,
    ...(Object.keys(errors).length > 0 && { errors }),
    ...(look && { live: { tag: tagOf(look), isSlow } }),
  }
  return { whole, fails: page.fails?.(data) }
}

/** `entries` are those of the page, and `content` is what it shows. */
function lookAt(visit: PageVisit, entries: readonly string[], content: Html): Look {
  const ids = isFirst(visit) ? entries : []
  const since = newestIn(shownBy(visit.request))
  return {
    version: content.toString(),
    newest: [...ids].sort().at(-1),
    newer: ids.filter(id => id > since).length,
  }
}

async function sendWhole(reply: FastifyReply, visit: PageVisit, page: Page, fails?: Fails) {
  return sendPage(
    reply,
    { ...visit, fails: fails ?? (await countFails(visit.context, visit.account)) },
    page,
  )
}
