/** Making a payment on a page, and the page to which its user returns. */

import { inPounds } from '../../../core/money.ts'
import { createPayment } from '../../../pay/payments/commands.ts'
import { completeByScenario } from '../../../pay/payments/complete.ts'
import { type NewPayment, type Payment, statusOf } from '../../../pay/payments/payment.ts'
import type { Refund } from '../../../pay/payments/refund.ts'
import { checkMode, readNewPayment } from '../../../pay/payments/request.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { createRefund } from '../../../pay/refunds/commands.ts'
import { askedFor } from '../../../platform/http/addresses.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import type { Code } from '../frame/banners.ts'
import { definePage } from '../frame/define-page.ts'
import { submit, type Typed } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import {
  type AccountVisit,
  type Next,
  pageOfAddress,
  signInFirst,
  type Visit,
} from '../frame/page.ts'
import { link, paragraph, statusTag, untrusted } from '../frame/parts.ts'
import { act, endOf } from './actions.ts'
import {
  aliases,
  bodyIn,
  defaults,
  labels,
  mended,
  newPaymentForm,
  type Ready,
  readyMade,
  sentences,
} from './new-form.ts'

export const newPayment = definePage({
  path: 'payments/new',
  title: 'Make a payment',
  makes: true,
  narrow: true,
  show: (visit, _, typed?: Typed) => newPaymentForm(visit, typed),
  actions: { create: { run: create } },
})

/** The page to which its user returns. Who pays is seldom who has signed in here. */
export const back = definePage({
  path: 'back/{payment_id}',
  section: 'payments',
  title: 'You are back',
  narrow: true,
  guest: returned,
  read: ({ context, account, id, now }) => findPayment(context.database, account.room, id, now),
  show: (visit, payment) =>
    payment
      ? html`${paragraph(html`The payment is ${statusTag(statusOf(payment))}`)}
${paragraph(html`${inPounds(payment.given.amount)}, ${untrusted(payment.given.reference)}. Here your own service would read the payment, and show your user what came of it.`)}
${paragraph(link(`${visit.root}payments/${visit.id}`, 'Its timeline'))}
${!visit.hasEnded && paragraph(link(`${visit.root}payments/new`, 'Make another payment'))}`
      : returned(visit),
})

/** The same whether there is such a payment or not. */
function returned({ request, site }: Visit): Html {
  const page = pageOfAddress(request.originalUrl)
  return html`${paragraph('The service that made the payment knows its result.')}
${paragraph(link(`${site}/console/${signInFirst(page)}`, 'Sign in to see the payment'))}`
}

async function create(visit: PageVisit): Promise<Next | Typed> {
  const form = formBody(visit.request)
  const name = form.get('ready') ?? ''
  const ready = Object.hasOwn(readyMade, name) ? readyMade[name] : undefined
  const back = backAddress(visit)
  const made = ready ? new URLSearchParams({ ...defaults(visit.now), ...ready.fields }) : form
  const body = bodyIn(made, back)
  const read = (body: Json) => readFields(visit.context, body, back)
  const rules = { body, read, labels, sentences, mended: mended(back), aliases }
  return submit(form, rules, fields => makePayment(visit, { fields, back, ready }))
}

/** As the API reads it, but that the page of the console to which a user returns may be at http. */
export function readFields({ config }: ToolContext, body: Json, back: string): NewPayment {
  const fields = readNewPayment(body)
  const isOwn = fields.return_url === back
  const hosts = isOwn ? new Set([new URL(back).host, new URL(back).hostname]) : config.returnHosts
  checkMode(fields, hosts)
  return fields
}

/** The API's own create, and then the steps of a ready-made payment. No plan of the account acts on it. */
export async function makePayment(
  { context, account, addresses }: AccountVisit,
  { fields, back, ready }: { fields: NewPayment; back: string; ready: Ready | undefined },
): Promise<Next> {
  const isOwn = fields.return_url === back
  const { payment, overtaken, refund } = await act(
    context,
    ready ? 'buildPayment' : 'createPayment',
    async context => {
      const payment = await createPayment(context, {
        account,
        address: addresses.api,
        given: fields,
        origin: 'console',
        ...(isOwn && { returnTo: (payment_id: string) => `${back}/${payment_id}` }),
      })
      if (!ready) return { payment }
      const { scenario, refunded } = ready
      // Another request may have been faster: then nothing more is done.
      const overtaken = await completeByScenario(context, payment, { scenario })
      if (overtaken || !refunded) return { payment, overtaken }
      const { payment_id } = payment
      const whole = { amount: fields.amount, available: undefined }
      const refund = { account, payment_id, refund: whole }
      return { payment, refund: await createRefund(context, refund) }
    },
    ({ refund }: { refund?: Refund }) => (refund ? `refund_id=${refund.refund_id}` : ''),
  )
  const code = overtaken ? 'overtaken' : refund ? 'refunded' : codeOf(payment, ready)
  return { to: `payments/${payment.payment_id}`, done: { code, pence: refund?.amount } }
}

function codeOf(payment: Payment, ready: Ready | undefined): Code {
  if (ready) return endOf(payment, ready.scenario)[1]
  // One in agreement mode has ended already.
  if (statusOf(payment) === 'success') return 'succeeded'
  return payment.given.authorisation_mode === 'moto_api' ? 'created-without-page' : 'created'
}

/** The page to which users of the console's payments return, at the address at which the browser has the console. */
export function backAddress({ request, config, addresses, base }: AccountVisit): string {
  const { host } = askedFor(request, config)
  const site = [addresses.pages, addresses.api].find(each => new URL(each).host === host)
  return `${site ?? addresses.api}${base}/back`
}
