import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotInside, signedIn } from '../../../platform/accounts/session.ts'
import { type Accepts, formBody, isForm } from '../../../platform/http/body.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { isFromOtherSite } from '../../../platform/web/headers.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { countFails, type Fails } from '../../explain/check/report.ts'
import { type Errors, type Filters, isFirst, type PageVisit, problemsIn, valuesIn } from './list.ts'
import {
  endedAccount,
  type Next,
  otherAccount,
  type Page,
  sendNext,
  sendPage,
  sendSignedOut,
} from './page.ts'
import * as ui from './parts.ts'
import {
  accountVisitOf,
  type ConsoleContext,
  insideOf,
  pageAddress,
  textsIn,
  type Visit,
  visitOf,
} from './visit.ts'

/** The result of an action for its own page: errors at the fields, for example. */
type Answer = { errors?: Errors | undefined }

type FormAction<F extends Filters, A extends Answer> = {
  accepts?: Accepts
  changesNothing?: true
  /** Whether the form is missing while control is off. */
  needsControl?: true
  /** Whether the form is sent to the address of the page, and not to one below it. */
  isAtPage?: true
  /** Reads the form, and returns the page to open then, a page of its own, or an answer for this page. */
  run: (visit: PageVisit<F>) => Promise<Next | Page | A>
}

type Definition<F extends Filters, Data, A extends Answer> = {
  /** Below /console; '' for home. It has one parameter at most. */
  path: string
  /** The entry in the navigation, and the title unless the page has one. */
  navigation?: string
  /** The path of the entry that is current, if it is not the first part of `path`. */
  section?: string
  filters?: F
  /** The content for visitors who are not signed in to this account. It must not depend on the identifier. */
  guest?: (visit: Visit) => Part
  /** Whether the page is a form that creates something: an account that has ended has none. */
  makes?: true
  instead?: (visit: PageVisit<F>) => Promise<string | undefined>
  /** Returns the data; throws `notFound`. It stands above `title` and `show`: the compiler infers theirs from it. */
  read?: (visit: PageVisit<F>, answer?: A) => Promise<Data>
  title?: string | ((visit: PageVisit<F>, data: Data) => string)
  /** The heading, if it is neither the entry in the navigation nor the title. */
  heading?: (visit: PageVisit<F>, data: Data) => Part
  /** Above the heading, such as the way back. */
  above?: (visit: PageVisit<F>, data: Data) => Part
  /** The content below the heading. Pure. */
  show: (visit: PageVisit<F>, data: Data, answer?: A) => Part
  /**
   * A live page says when its content may have changed. A function finds out faster than reading and showing
   * everything: `since` is the newest entry that the browser shows.
   */
  live?: true | ((visit: PageVisit<F>, since: string) => Promise<Look>)
  /** The number beside *Check* in the navigation, if `read` has counted it already. */
  fails?: (data: Data) => Fails
  /** The identifiers in a live list, if it begins with the newest. */
  entries?: (data: Data) => readonly string[]
  /** The forms of the page, by the last part of their addresses. */
  actions?: Readonly<Record<string, FormAction<F, A> | FormAction<F, A>['run']>>
}

export type ConsolePage = ReturnType<typeof definePage>

type AnyPage = Definition<Filters, unknown, Answer>

export function definePage<const F extends Filters, Data, A extends Answer>(
  definition: Definition<F, Data, A>,
) {
  const page = definition as unknown as AnyPage // its functions get what it has returned itself
  const actions = Object.entries(page.actions ?? {}).map(
    ([name, action]) => [name, typeof action === 'function' ? { run: action } : action] as const,
  )
  return {
    path: page.path,
    forms: actions.map(([name, { isAtPage }]) => (isAtPage ? page.path : `${page.path}/${name}`)),
    navigation: page.navigation,
    isLive: page.live !== undefined,
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
  return !hasEnded && ui.postForm(account, address, content, className)
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
      return sendPage(reply, guest, { title: `${page.title}`, content, narrow: true })
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

/** A form. Without a session it does nothing, and the page to sign in says so: its area is that page's. */
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
    // A page that is sent again has the record up to now.
    await context.recorder?.write()
    const visit = pageVisitOf(request, context, page)
    const refused = otherAccount(visit) ?? (action.changesNothing ? undefined : endedAccount(visit))
    if (refused) return sendWhole(reply, visit, refused)
    if (action.needsControl && !context.config.control) throw pageFault(404)
    const result = await action.run(visit)
    if ('to' in result) return sendNext(reply, visit, result)
    if ('content' in result) return sendWhole(reply, visit, result)
    return respond(page, visit, reply, result)
  },
})

/** A place in a list is an identifier, or a name of an account. */
const cursorIn = (text = ''): string | undefined =>
  text !== '' && text.length <= 100 ? text : undefined

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
    cursor: { before: cursorIn(before), after: cursorIn(after) },
    back,
    form: isForm(request) ? formBody(request) : new URLSearchParams(),
    actions: Object.keys(actions),
  }
}

/** Sends the page, or its changes since the browser opened it. `answer` is that of an action. */
async function respond(page: AnyPage, visit: PageVisit, reply: FastifyReply, answer?: Answer) {
  const work = () => makePage(page, visit, answer)
  // A check takes a turn itself, which equal checks share.
  const shown = await (page.fails ? work() : visit.context.reading(visit.request, Symbol(), work))
  if (shown.look) return sendLook(reply, shown.browserTag, shown.look)
  return sendWhole(reply, visit, shown.whole, shown.fails)
}

async function makePage(page: AnyPage, visit: PageVisit, answer?: Answer) {
  const { path, navigation = path, title = navigation, section = path.replace(/\/.*/, '') } = page
  const live = Object.keys(visit.errors).length > 0 ? undefined : page.live
  const browserTag = live && shownBy(visit.request)
  // Before the page is read, so that a change meanwhile is announced, and not overlooked.
  const quick =
    typeof live === 'function' ? await live(visit, newestIn(browserTag || '')) : undefined
  if (quick && browserTag) return { browserTag, look: quick }
  const data = await page.read?.(visit, answer)
  const itsTitle = typeof title === 'string' ? title : title(visit, data)
  const text = page.heading?.(visit, data) ?? page.navigation ?? itsTitle
  const head = live ? liveHeading(visit, text) : ui.heading(text)
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
    narrow: page.makes || page.guest !== undefined,
    section,
    ...(Object.keys(errors).length > 0 && { errors }),
    ...(look && { live: { tag: tagOf(look), isSlow } }),
  }
  return { whole, fails: page.fails?.(data) }
}

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
  const counted = fails ?? (await countFails(visit.context, visit.account))
  return sendPage(reply, visit, { ...page, fails: counted })
}

/* Whether what a page shows is still true: its script asks the page itself, with the ETag of what it shows. */

type Look = {
  /** The ETag of the content: another one as soon as something in it has changed. */
  version: unknown
  newest?: string | undefined
  /** How many entries are newer than those that the browser shows. */
  newer?: number
  /** Milliseconds since the newest change. */
  ago?: number
}

/** Nobody reads more than "100 or more". */
export const MOST_NEWER = 100

/** Weak: the number beside *Check*, banners and times differ without a change of the content. Not to be read back. */
const tagOf = ({ version, newest = '' }: Look): string =>
  `W/"${newest}.${hash('sha256', JSON.stringify(version), 'base64url').slice(0, 16)}"`

/** The ETag of the browser's content, if its script only asks for changes. */
const shownBy = ({ headers }: FastifyRequest): string | undefined =>
  ui.ACCOUNT_HEADER in headers ? headers['if-none-match'] : undefined

/** The newest entry of the list that the browser shows; '' if it shows none. */
const newestIn = (browserTag = ''): string => /^W\/"([0-9a-v]*)\./.exec(browserTag)?.[1] ?? ''

const afterNewest = (tag: string) => tag.slice(tag.indexOf('.'))

/** 304, or the changes since the browser got `browserTag`. */
function sendLook(reply: FastifyReply, browserTag: string, look: Look): FastifyReply {
  const tag = tagOf(look)
  const { newer = 0, ago } = look
  if (newer === 0 && afterNewest(tag) === afterNewest(browserTag)) return reply.code(304).send()
  if (newer > 0) void reply.header('farthing-newer', newer)
  if (ago !== undefined) void reply.header('farthing-ago', Math.max(0, ago))
  return reply.type('text/html; charset=utf-8').send('')
}

/**
 * The heading with a status line. The script announces changes there, and can reload the page by itself (Follow). Without
 * script there is the link *Refresh*, which leads to the page of a form from its answer too. A page with errors at its
 * filters has the heading alone.
 */
function liveHeading(visit: PageVisit, text: Part): Html {
  const query = { ...visit.values, ...visit.cursor, back: visit.back }
  return html`<div class="farthing-heading">
${ui.heading(text)}
<div class="farthing-live">
<p class="govuk-body" role="status"></p>
<p class="govuk-body">${ui.link(pageAddress(visit.here, query), 'Refresh')}</p>
<label class="govuk-body farthing-follow" hidden><input type="checkbox" aria-describedby="follow-hint"> Follow <span class="govuk-hint" id="follow-hint">Updates the page by itself</span></label>
</div>
</div>`
}
