/** Refusals of forms and looks: the session has ended, the browser has signed in to another account, or the account has ended. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../../core/account.ts'
import { formBody, isForm } from '../../../platform/http/body.ts'
import { html } from '../../../platform/web/html.ts'
import type { FormPurpose } from './banners.ts'
import { ACCOUNT_HEADER } from './live.ts'
import {
  type AccountVisit,
  type ConsoleContext,
  outside,
  type Page,
  pageOfAddress,
  sendNext,
  signInFirst,
  visitOf,
} from './page.ts'
import { ACCOUNT_FIELD, heading, link, paragraph } from './parts.ts'

/** The page of a form is at its address or one level above. */
export function sendSignedOut(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: FormPurpose,
): FastifyReply {
  const page = pageOfAddress(request.originalUrl.replace(new RegExp(`/${purpose}$`), ''))
  const next = { to: signInFirst(page), done: { lost: purpose } }
  return sendNext(reply, outside(visitOf(request, context)), next)
}

/** The page that says that nothing can be done, if the account has ended. */
export function endedAccount({ home, hasEnded }: AccountVisit): Page | undefined {
  if (!hasEnded) return undefined
  return {
    title: 'This test account has ended',
    status: 409,
    content: html`${paragraph('Nothing was done.')}
${paragraph(link(home, 'Read its pages'))}`,
  }
}

export const inAnother = ({ name }: Account): Pick<Page, 'title' | 'heading'> => ({
  title: 'You are now in another account',
  heading: heading(html`You are now in <bdi>${name}</bdi>`),
})

/**
 * The page that says so, if the browser has signed in to another account since it opened the page of the form, or the
 * page that it looks at. Nothing may be done then.
 */
export function otherAccount(visit: Omit<AccountVisit, 'now'>): Page | undefined {
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
