import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { doDueOf } from '../../pay/payments/due-steps.ts'
import { NotInside, signedIn } from '../../platform/accounts/session.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import type { Area } from '../../platform/http/areas.ts'
import { toApiError } from '../../platform/http/errors.ts'
import { policies, setPageHeaders } from '../../platform/web/headers.ts'
import { html } from '../../platform/web/html.ts'
import type { ToolContext } from '../context.ts'
import { inAnother, sendNext, sendPage } from './frame/page.ts'
import * as ui from './frame/parts.ts'
import { outside, pageOfAddress, signInFirst, type Visit, visitOf } from './frame/visit.ts'
import { sections } from './pages.ts'

class SignInNeeded extends Error {}

/** The areas of the console. `sign-in` requires no session: handlers that need one look for it themselves. */
export function consoleAreas(context: ToolContext) {
  const setHeaders = (request: FastifyRequest, reply: FastifyReply) =>
    setPageHeaders(reply, addressesOf(request, context.config), policies.console)
  const sendError: Area['sendError'] = (error, request, reply) => {
    setHeaders(request, reply)
    const visit = visitOf(request, { config: context.config, sections })
    if (error instanceof SignInNeeded)
      return void sendNext(reply, outside(visit), {
        to: signInFirst(pageOfAddress(request.originalUrl)),
      })
    if (error instanceof NotInside)
      return void sendNotInside({ ...outside(visit), account: request.account }, reply)
    const { status } = toApiError(error, request, reply)
    // An error before the session was looked up is shown without navigation.
    const account = request.account ?? undefined
    const [title, text] = faults[status] ?? (status < 500 ? UNREADABLE : BROKEN)
    const content = html`${ui.paragraph(text)}
${account && ui.paragraph(html`Go to the ${ui.link(visit.home, 'home page')}, or search the ${ui.link(`${visit.root}payments`, 'payments')} or the ${ui.link(`${visit.root}requests`, 'requests')}.`)}`
    void sendPage(reply, { ...visit, account }, { title, content, status })
  }
  const signIn = { prefix: '/console', setHeaders, sendError }
  return {
    console: {
      ...signIn,
      authenticate: async (request: FastifyRequest) => {
        if (!(await signedIn(context, request))) throw new SignInNeeded('no session')
        await doDueOf(context, request.account)
        // So that the page shows everything recorded until now.
        await context.recorder?.write()
      },
    },
    'sign-in': signIn,
  }
}

/** Sends the same page for a name that does not exist as for an account of somebody else. */
function sendNotInside(visit: Visit & { account: Account }, reply: FastifyReply): void {
  const { account } = visit
  const content = html`${ui.paragraph('Nothing was done. The address belongs to a test account that this account does not have, or whose data is deleted.')}
${ui.paragraph(ui.link(`${visit.root}accounts`, 'Go to the accounts of this one'))}`
  void sendPage(reply, visit, { ...inAnother(account), content, status: 404 })
}

type Fault = [heading: string, text: string]

const UNREADABLE: Fault = ['The request cannot be read', 'Nothing was done.']
const BROKEN: Fault = [
  'Sorry, there is a problem with the service',
  'Try again. The log says what happened.',
]

const faults: Record<number, Fault> = {
  403: [
    'This form was sent from another site',
    'Nothing was done. Open the page in the console and try again there.',
  ],
  404: [
    'Page not found',
    'This account has nothing at this address. It may be mistyped, belong to another account, or be gone: payments and what belongs to them are kept for 7 days, or 180 where GOV.UK Pay is followed.',
  ],
  405: ['This page cannot be used like that', 'Nothing was done.'],
  413: [
    'The form is too long',
    'A form may have 16 KiB, and with a file 256 KiB. Nothing was done.',
  ],
  415: ['The form has a type that this page does not read', 'Nothing was done.'],
  422: ['The form has too many fields', 'Nothing was done.'],
  503: ['The service has too much to do', 'Nothing was done. Try again in a moment.'],
}
