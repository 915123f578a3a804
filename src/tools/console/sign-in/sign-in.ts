/** Entering the console, with a key or with a link of `farthing open`, and leaving it. */

import type { FastifyReply } from 'fastify'
import {
  endSession,
  findSession,
  type Session,
  signedIn,
  startSession,
} from '../../../platform/accounts/session.ts'
import { findKey } from '../../../platform/accounts/store.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { button } from '../../../platform/web/components.ts'
import { input } from '../../../platform/web/form-components.ts'
import { isFromOtherSite } from '../../../platform/web/headers.ts'
import { html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { otherAccount, type Page, sendNext, sendPage } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { type ConsoleContext, pageOfAddress, textsIn, type Visit, visitOf } from '../frame/visit.ts'

/** The page of the console to open after signing in; '' for home if the address or the form names none. */
const pageIn = (fields: URLSearchParams): string => pageOfAddress(fields.get('to') ?? '') ?? ''

const UNKNOWN_KEY = 'This key is not known here. Ask whoever runs Farthing for one'
const EXPIRED_LINK = 'This link has expired. Enter an API key, or make another link'

export const signInRoutes = (context: ConsoleContext): Route[] => [
  route(context, 'GET', 'sign-in', async (visit, query, reply) =>
    sendPage(reply, visit, signInPage(visit, pageIn(query))),
  ),
  entryRoute(context, 'sign-in', UNKNOWN_KEY, sessionForKey),
  route(context, 'GET', 'enter', async (visit, query, reply) =>
    sendPage(reply, visit, enterPage(visit, query)),
  ),
  entryRoute(context, 'enter', EXPIRED_LINK, form =>
    findSession(context, form.get('code') ?? '', 'enter'),
  ),
  route(context, 'POST', 'sign-out', async (visit, _, reply) => {
    const { request } = visit
    if (await signedIn(context, request)) {
      const inAccount = { ...visit, account: request.account }
      const page = otherAccount(inAccount)
      if (page) return sendPage(reply, inAccount, page)
    }
    endSession(request, reply, context.config)
    return sendNext(reply, visit, { to: 'sign-in', done: 'signed-out' })
  }),
]

/** Signs in with the session that the form opens. Without a session it shows the page to sign in, with `refused`. */
const entryRoute = (
  context: ConsoleContext,
  path: string,
  refused: string,
  find: (form: URLSearchParams, context: ToolContext) => Promise<Session | undefined>,
): Route =>
  route(context, 'POST', path, async (visit, form, reply) => {
    const session = await find(form, context)
    const to = pageIn(form)
    if (session && (await startSession(context, visit.request, reply, session)))
      return sendNext(reply, visit, { to })
    return sendPage(reply, visit, signInPage(visit, to, refused))
  })

/** `run` gets the form, or the query of a page. */
function route(
  context: ConsoleContext,
  method: 'GET' | 'POST',
  path: string,
  run: (visit: Visit, fields: URLSearchParams, reply: FastifyReply) => Promise<FastifyReply>,
): Route {
  const isForm = method === 'POST'
  return {
    method,
    path: `/console/${path}`,
    area: 'sign-in',
    ...(isForm && { accepts: 'form' }),
    async handler(request, reply) {
      if (isForm && isFromOtherSite(request, context.config)) throw pageFault(403)
      const visit = visitOf(request, context)
      const query = () => new URLSearchParams(textsIn(visit, ['to', 'code']))
      return run(visit, isForm ? formBody(request) : query(), reply)
    },
  }
}

async function sessionForKey(form: URLSearchParams, { database, config, time }: ToolContext) {
  // A key that was pasted often has a line feed.
  const key = (form.get('key') ?? '').trim()
  if (key === '') return undefined
  return findKey(database, key, { fixedKeys: config.fixedKeys, at: time.wall() })
}

function signInPage({ root }: Visit, to: string, refused?: string): Page {
  const fields = html`${ui.hidden('to', to)}
${input({
  name: 'key',
  label: 'API key',
  hint: 'It begins with api_test_, unless it is the one in FARTHING_API_KEY',
  type: 'password',
  autocomplete: 'current-password',
  error: refused,
})}
${button({ id: 'sign-in', text: 'Sign in' })}`
  const content = html`${ui.postForm(undefined, `${root}sign-in`, fields)}
<h2 class="govuk-heading-m">What you will see</h2>
<p class="govuk-body">The payments of the key’s account, the requests that its services made, its webhooks, and the responses of their receivers. Nothing of any other account.</p>
<p class="govuk-body">Requests with an unknown key are not shown: they are 401 and belong to no account.</p>
<h2 class="govuk-heading-m">If you have no key</h2>
<p class="govuk-body">Ask whoever runs Farthing. Its first start prints a key, unless ${ui.code('FARTHING_API_KEY')} sets it. On that machine ${ui.command('farthing keys create')} makes another, and ${ui.command('farthing open')} signs you in.</p>`
  return {
    title: 'Sign in',
    heading: ui.heading('Sign in to the console'),
    content,
    narrow: true,
    ...(refused && { status: 401, errors: { key: refused } }),
  }
}

function enterPage({ root }: Visit, query: URLSearchParams): Page {
  const fields = html`${ui.hidden('code', query.get('code') ?? '')}
${ui.hidden('to', pageIn(query))}
${button({ id: 'enter', text: 'Enter' })}`
  const content = html`${ui.paragraph('This link signs you in without a key. It works for one minute.')}
${ui.postForm(undefined, `${root}enter`, fields)}`
  return { title: 'Enter', heading: ui.heading('Enter the console'), content, narrow: true }
}
