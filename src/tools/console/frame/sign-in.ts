/** Entering the console, with a key or with a link of `farthing open`, and what is refused to whoever is not inside. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../../core/account.ts'
import { asTypedHere } from '../../../core/invocation.ts'
import { findKey } from '../../../platform/accounts/store.ts'
import { formBody, isForm } from '../../../platform/http/body.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { button } from '../../../platform/web/components.ts'
import { input } from '../../../platform/web/form-components.ts'
import { html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { ACCOUNT_HEADER } from './live.ts'
import {
  type AccountVisit,
  type ConsoleContext,
  type Next,
  outside,
  type Page,
  pageOfAddress,
  sendNext,
  sendPage,
  signInFirst,
  type Visit,
  visitOf,
} from './page.ts'
import {
  ACCOUNT_FIELD,
  code,
  command,
  heading,
  hidden,
  link,
  paragraph,
  postForm,
} from './parts.ts'
import {
  endSession,
  findSession,
  isFromOtherSite,
  type Session,
  signedIn,
  startSession,
} from './session.ts'

type Fields = Pick<URLSearchParams, 'get'>

/** The page of the console to open then; home if the address or the form names none. */
const pageIn = (fields: Fields): string => pageOfAddress(fields.get('to') ?? '') ?? ''

type Entry = {
  page: (visit: Visit, query: Fields) => Page
  /** The session that the form of the page opens. */
  find: (context: ToolContext, form: Fields) => Promise<Session | undefined>
  /** The error where it opens none. */
  refused: string
}

const entries: Readonly<Record<string, Entry>> = {
  'sign-in': {
    page: (visit, query) => signInPage(visit, pageIn(query)),
    find: sessionForKey,
    refused: 'Enter a key of this Farthing',
  },
  enter: {
    page: enterPage,
    find: (context, form) => findSession(context, form.get('code') ?? '', 'enter'),
    refused: asTypedHere(
      'This link has expired. Enter a key of this Farthing, or run farthing open',
    ),
  },
}

export const signInRoutes = (context: ConsoleContext): Route[] => [
  ...Object.entries(entries).flatMap(([path, { page, find, refused }]) => [
    {
      method: 'GET',
      path: `/console/${path}`,
      area: 'sign-in',
      handler: async (request, reply) => {
        const visit = visitOf(request, context)
        const query = new URLSearchParams(/\?.*/s.exec(request.url)?.[0])
        return sendPage(reply, visit, page(visit, query))
      },
    } satisfies Route,
    formRoute(context, path, async (form, request, reply) => {
      const visit = visitOf(request, context)
      const session = await find(context, form)
      const to = pageIn(form)
      if (session && (await startSession(context, request, reply, session)))
        return sendNext(reply, visit, { to })
      return sendPage(reply, visit, signInPage(visit, to, refused))
    }),
  ]),
  formRoute(context, 'sign-out', async (_, request, reply) => {
    const visit = visitOf(request, context)
    if (await signedIn(context, request)) {
      const inAccount = { ...visit, account: request.account }
      const page = otherAccount(inAccount)
      if (page) return sendPage(reply, inAccount, page)
    }
    endSession(request, reply, context.config)
    return sendNext(reply, visit, { to: 'sign-in', done: { code: 'signed-out' } })
  }),
]

const formRoute = (
  { config }: ConsoleContext,
  path: string,
  run: (form: Fields, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): Route => ({
  method: 'POST',
  path: `/console/${path}`,
  area: 'sign-in',
  accepts: 'form',
  handler: async (request, reply) => {
    if (isFromOtherSite(request, config)) throw pageFault(403)
    return run(formBody(request), request, reply)
  },
})

async function sessionForKey(
  { database, config, time }: ToolContext,
  form: Fields,
): Promise<Session | undefined> {
  // A key that was pasted often has a line feed.
  const key = (form.get('key') ?? '').trim()
  return key === '' ? undefined : findKey(database, key, config.fixedKeys, time.wall())
}

function signInPage({ root }: Visit, to: string, refused?: string): Page {
  const fields = html`${hidden('to', to)}
${input({
  name: 'key',
  label: 'API key',
  hint: 'It begins with api_test_, unless it is the one in FARTHING_API_KEY',
  type: 'password',
  autocomplete: 'current-password',
  error: refused,
})}
${button({ id: 'sign-in', text: 'Sign in' })}`
  const content = html`${postForm(undefined, `${root}sign-in`, fields)}
<h2 class="govuk-heading-m">What you will see</h2>
<p class="govuk-body">The payments of the key’s account, the requests that its services made, its webhooks, and the responses of their receivers. Nothing of any other account.</p>
<p class="govuk-body">Requests with an unknown key are not shown: they are 401 and belong to no account. ${command('farthing doctor')} tells you whether a key works.</p>
<h2 class="govuk-heading-m">If you have no key</h2>
<p class="govuk-body">The first start of Farthing prints a key, unless ${code('FARTHING_API_KEY')} sets it. On the machine where Farthing runs, ${command('farthing keys create')} makes another, and ${command('farthing open')} signs you in with the key in ${code('FARTHING_API_KEY')} or, without that, with the newest of the database.</p>`
  return {
    title: 'Sign in',
    heading: heading('Sign in to the console'),
    content,
    narrow: true,
    ...(refused && { status: 401, errors: { key: refused } }),
  }
}

function enterPage({ root }: Visit, query: Fields): Page {
  const fields = html`${hidden('code', query.get('code') ?? '')}
${hidden('to', pageIn(query))}
${button({ id: 'enter', text: 'Enter' })}`
  const content = html`${paragraph('This link signs you in without a key. It works for one minute.')}
${postForm(undefined, `${root}enter`, fields)}`
  return { title: 'Enter', heading: heading('Enter the console'), content, narrow: true }
}

/** The page of a form is at its address or one level above. */
export function sendSignedOut(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: string,
): FastifyReply {
  const page = pageOfAddress(request.originalUrl.replace(new RegExp(`/${purpose}(?=[?]|$)`), ''))
  const next: Next = { to: signInFirst(page), done: { code: 'lost' } }
  return sendNext(reply, outside(visitOf(request, context)), next)
}

/** The page that says that nothing can be done, if the account has ended. */
export const endedAccount = ({ home, hasEnded }: AccountVisit): Page | undefined =>
  hasEnded
    ? {
        title: 'This test account has ended',
        status: 409,
        content: html`${paragraph('Nothing was done.')}
${paragraph(link(home, 'Read its pages'))}`,
      }
    : undefined

export const inAnother = ({ name }: Account): Pick<Page, 'title' | 'heading'> => ({
  title: 'You are now in another account',
  heading: heading(html`You are now in <bdi>${name}</bdi>`),
})

/**
 * The page that says so, if the browser has signed in to another account since it opened the page of the form, or the
 * page that it looks at. Nothing may be done then.
 */
export function otherAccount(visit: Visit & { account: Account }): Page | undefined {
  const { home, account, request } = visit
  const form = isForm(request) ? formBody(request).get(ACCOUNT_FIELD) : null
  const from = form ?? request.headers[ACCOUNT_HEADER] ?? null
  if (from === null || from === account.name) return undefined
  return {
    ...inAnother(account),
    status: 409,
    content: html`${paragraph(html`Nothing was done. The page that you used is one of the account <bdi>${String(from)}</bdi>, and this browser has signed in to <bdi>${account.name}</bdi> since.`)}
${paragraph(html`${link(home, 'Go to the home page of this account')}, or sign out and sign in with a key of the other.`)}`,
  }
}
