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

/** The result of an action that the page of the action shows: errors at the fields, for example. */
type Answer = { errors?: Errors | undefined }

type FormAction<F extends Filters, A extends Answer> = {
  accepts?: Accepts
  changesNothing?: true
  /** Whether the action is 404 while control is off. */
  needsControl?: true
  /** Whether the form is sent to the address of the page, and not to one below it. */
  isAtPage?: true
  /** Reads the form, and returns the page to open next, a whole page to send, or an answer that this page shows. */
  run: (visit: PageVisit<F>) => Promise<Next | Page | A>
}

type Definition<F extends Filters, Data, A extends Answer> = {
  /** The path below /console, with one parameter at most; '' for home. */
  path: string
  /** The text in the navigation, and the title unless `title` is set. */
  navigation?: string
  /** The path of the page that the navigation marks as current, if that is not the first part of `path`. */
  section?: string
  filters?: F
  /** The content for visitors who are not signed in to this account. It must not depend on the identifier. */
  guest?: (visit: Visit) => Part
  /** Whether the page is a form that creates something: in an account that has ended it is 409. */
  makes?: true
  instead?: (visit: PageVisit<F>) => Promise<string | undefined>
  /** Returns the data; throws a 404 by `existing`. Write it above `title` and `show`: the compiler infers their data from it. */
  read?: (visit: PageVisit<F>, answer?: A) => Promise<Data>
  title?: string | ((visit: PageVisit<F>, data: Data) => string)
  /** The heading. Default: the text in the navigation, or else the title. */
  heading?: (visit: PageVisit<F>, data: Data) => Part
  /** The content above the heading, such as a link back. */
  above?: (visit: PageVisit<F>, data: Data) => Part
  /** The content below the heading. Pure. */
  show: (visit: PageVisit<F>, data: Data, answer?: A) => Part
  /**
   * A live page tells the browser when its content may have changed. A function finds that out faster than `read` and
   * `show`. `since` is the newest entry that the browser shows.
   */
  live?: true | ((visit: PageVisit<F>, since: string) => Promise<Look>)
  /** The number of fails beside *Check* in the navigation, if `read` has counted them already. */
  fails?: (data: Data) => Fails
  /** The identifiers in a live list that is sorted newest first. */
  entries?: (data: Data) => readonly string[]
  /** The forms of the page, by the last part of their addresses. */
  actions?: Readonly<Record<string, FormAction<F, A> | FormAction<F, A>['run']>>
}

export type ConsolePage = ReturnType<typeof definePage>

type AnyPage = Definition<Filters, unknown, Answer>

export function definePage<const F extends Filters, Data, A extends Answer>(
  definition: Definition<F, Data, A>,
) {
  const page = definition as unknown as AnyPage // its functions get the data that its own `read` returned
  const actions = Object.entries(page.actions ?? {}).map(
    ([name, action]) => [name, typeof action === 'function' ? { run: action } : action] as const,
  )
  return {
    path: page.path,
    forms: actions.map(([name, { isAtPage }]) => (isAtPage ? page.path : `${page.path}/${name}`)),
    navigation: page.navigation,
    isLive: page.live !== undefined,
    isList: page.entries !== undefined,
    routes: (context: ConsoleContext): Route[] => [
      pageRoute(context, page),
      ...actions.map(([name, action]) => actionRoute(context, page, name, action)),
    ],
  }
}

/** The form of an action of the page; false in an account that has ended. */
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
    // The addresses of a test account contain its name, so that two tabs of one browser can show two accounts.
    if (account.parent !== null && base === '/console') {
      const rest = request.originalUrl.slice(base.length).replace(/^\/$/, '')
      return sendNext(reply, visit, { to: insideOf(account) + rest })
    }
    const to = await page.instead?.(visit)
    return to === undefined ? respond(page, visit, reply) : sendNext(reply, visit, { to })
  },
})

/** Whether the request has a session, and the session opens the account in the address. */
const isSignedIn = (context: ConsoleContext, request: FastifyRequest): Promise<boolean> =>
  signedIn(context, request).catch(error => {
    if (error instanceof NotInside) return false
    throw error
  })

/** The route of a form. Without a session it does nothing and leads to the page to sign in: its area is `sign-in`. */
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
    // So that a page which is sent as the response shows everything recorded until now.
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

/** The cursor of a list is an identifier, or for test accounts the expiry and the name. */
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

/** Sends the page, or says whether it has changed since the browser opened it. `answer` is the result of an action. */
async function respond(page: AnyPage, visit: PageVisit, reply: FastifyReply, answer?: Answer) {
  const work = () => makePage(page, visit, answer)
  // A check takes its own turn, which equal checks share.
  const shown = await (page.fails ? work() : visit.context.reading(visit.request, Symbol(), work))
  if (shown.look) return sendLook(reply, shown.browserTag, shown.look)
  return sendWhole(reply, visit, shown.whole, shown.fails)
}

async function makePage(page: AnyPage, visit: PageVisit, answer?: Answer) {
  const { path, navigation = path, title = navigation, section = path.replace(/\/.*/, '') } = page
  const live = Object.keys(visit.errors).length > 0 ? undefined : page.live
  const browserTag = live && shownBy(visit.request)
  // Runs before the page is read, so that a change in between is announced and not overlooked.
  const quick = typeof live === 'function' ? await live(visit, newestIn(browserTag)) : undefined
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

/* How a live page learns of changes: its script requests the page again, with the ETag of the content that it shows. */

type Look = {
  /** Differs as soon as something in the content has changed. Its hash is in the ETag. */
  version: unknown
  newest?: string | undefined
  /** How many entries are newer than those that the browser shows. */
  newer?: number
  /** Milliseconds since the newest change. */
  ago?: number
}

/** The most newer entries that are counted: the page says "100 or more". */
export const MOST_NEWER = 100

/** Weak: banners, times and the number beside *Check* differ without a change of the content. The hash is one-way. */
const tagOf = ({ version, newest = '' }: Look): string =>
  `W/"${newest}.${hash('sha256', JSON.stringify(version), 'base64url').slice(0, 16)}"`

/** The ETag of the content in the browser, if the request comes from the script that asks for changes. */
const shownBy = ({ headers }: FastifyRequest): string | undefined =>
  ui.ACCOUNT_HEADER in headers ? headers['if-none-match'] : undefined

/** The newest entry of the list that the browser shows; '' if it shows none. */
const newestIn = (browserTag = ''): string => /^W\/"([0-9a-v]*)\./.exec(browserTag)?.[1] ?? ''

const afterNewest = (tag: string) => tag.slice(tag.indexOf('.'))

/** Sends 304 if nothing has changed since the browser got `browserTag`, otherwise 200 with headers about the change. */
function sendLook(reply: FastifyReply, browserTag: string, look: Look): FastifyReply {
  const tag = tagOf(look)
  const { newer = 0, ago } = look
  if (newer === 0 && afterNewest(tag) === afterNewest(browserTag)) return reply.code(304).send()
  if (newer > 0) void reply.header('farthing-newer', newer)
  if (ago !== undefined) void reply.header('farthing-ago', Math.max(0, ago))
  return reply.type('text/html; charset=utf-8').send('')
}

/**
 * The heading with a status line, where the script announces changes. The script can also reload the page by itself
 * (Follow). Without the script the link *Refresh* reloads the page; after a form was sent it leads back to the page of
 * the form. A page with errors in its filters has the heading only.
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
