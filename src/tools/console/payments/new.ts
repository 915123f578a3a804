/** The page that makes a payment: its form becomes the body of the API's create. And the page to which users return. */

import { inPounds, penceIn } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import { ADDRESS_LINES } from '../../../pay/card.ts'
import { allows } from '../../../pay/payments/advance.ts'
import { createPayment } from '../../../pay/payments/commands.ts'
import { carryOut, moveOf } from '../../../pay/payments/complete.ts'
import { checkMode, checkReturnUrl } from '../../../pay/payments/mode.ts'
import {
  type Choice,
  isPayable,
  languages,
  type NewPayment,
  type Payment,
  type Scenario,
  statusOf,
} from '../../../pay/payments/payment.ts'
import { readNewPayment } from '../../../pay/payments/request.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { createRefund } from '../../../pay/refunds/commands.ts'
import { askedFor } from '../../../platform/http/addresses.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button, buttonGroup, details } from '../../../platform/web/components.ts'
import { checkbox } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { recordAction } from '../../record/action.ts'
import { offersTo } from '../../steer/offers.ts'
import { wantedOf } from '../../steer/scenario-wire.ts'
import { definePage } from '../frame/define-page.ts'
import { type FormFields, fieldParts, POUNDS, submit, type Typed, textIn } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Code, Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, pageOfAddress, signInFirst, type Visit } from '../frame/visit.ts'
import { endOf } from './actions.ts'

export const newPayment = definePage({
  path: 'payments/new',
  title: 'Make a payment',
  makes: true,
  show: (visit, _, typed?: Typed) => newPaymentForm(visit, typed),
  actions: { create },
})

/** The page to which the user of such a payment returns. That user has seldom signed in to the console. */
export const back = definePage({
  path: 'back/{payment_id}',
  section: 'payments',
  title: 'You are back',
  guest: returned,
  read: ({ context, account, id, now }) => findPayment(context.database, account, id, now),
  show: (visit, payment) =>
    payment
      ? html`${ui.paragraph(html`${isPayable(statusOf(payment)) ? 'The payment is still open:' : 'The payment has ended:'} ${ui.statusTag(statusOf(payment))}`)}
${ui.paragraph(html`${inPounds(payment.given.amount)}, ${ui.untrusted(payment.given.reference)}. Here your own service would read the payment, and show your user what came of it.`)}
${ui.paragraph(ui.link(`${visit.root}payments/${visit.id}`, 'Its timeline'))}
${!visit.hasEnded && ui.paragraph(ui.link(`${visit.root}payments/new`, 'Make another payment'))}`
      : returned(visit),
})

/** The content for a user who has not signed in. It is the same whether the payment exists or not. */
function returned({ request, site }: Visit): Html {
  const page = pageOfAddress(request.originalUrl)
  return html`${ui.paragraph('The service that made the payment knows its result.')}
${ui.paragraph(ui.link(`${site}/console/${signInFirst(page)}`, 'Sign in to see the payment'))}`
}

/** A ready-made payment. The code of the endpoints that lead to its state brings it there. */
type Ready = {
  text: string
  scenario: Choice
  /** The fields of its form that differ from the defaults. */
  fields?: Readonly<Record<string, string>>
  refunded?: boolean
}

export const readyMade: Record<string, Ready> = {
  paid: { text: 'Paid', scenario: 'success' },
  declined: { text: 'Declined', scenario: 'declined' },
  error: { text: 'Error', scenario: 'error' },
  cancelled: { text: 'Cancelled by the user', scenario: 'cancel' },
  capturable: { text: 'Capturable', scenario: 'success', fields: { delayed_capture: 'true' } },
  refunded: { text: 'Refunded', scenario: 'success', refunded: true },
}

const NO_DETAILS = { prefilled_cardholder_details: undefined }

/** The text fields, in the order of the page. */
export const main = {
  amount: {
    ...POUNDS,
    label: 'Amount in pounds',
    sentence: 'Enter an amount in pounds, from 0.00 to 100000.00',
    right: { amount: 1 },
  },
  reference: { label: 'Reference', right: { reference: 'R' } },
  description: { label: 'Description', right: { description: 'D' } },
  return_url: {
    label: 'Return URL',
    hint: 'Without one the user returns to a page of this console',
    right: { return_url: 'https://example.org/', authorisation_mode: 'web' },
  },
}
const prefilled = {
  email: { label: 'Email', right: { email: undefined } },
  cardholder_name: { label: 'Name on the card', right: NO_DETAILS },
  line1: { label: 'Address line 1', right: NO_DETAILS },
  line2: { label: 'Address line 2', right: NO_DETAILS },
  city: { label: 'Town or city', right: NO_DETAILS },
  postcode: { label: 'Postcode', right: NO_DETAILS },
  country: { label: 'Country', hint: 'Two letters, such as GB', right: NO_DETAILS },
}
const scenario = { label: 'How it ends', right: {} }

const choices: FormFields = {
  mode: {
    label: 'How it is paid',
    options: [
      ['web', 'The user pays on the payment pages'],
      ['moto', 'By post or telephone, on the payment pages (moto)'],
      ['moto_api', 'Your service sends the card (moto_api)'],
    ],
    right: {},
  },
  language: {
    label: 'Language of the payment pages',
    options: [
      ['en', 'English'],
      ['cy', 'Welsh'],
    ],
    right: {},
  },
}

/** The body for the API, without an amount if none can be read. `back` is the return URL of a form that names none. */
function bodyIn(form: URLSearchParams, back: string): Json {
  const text = (name: string) => textIn(form, name)
  const mode = form.get('mode')
  const isWeb = mode !== 'moto_api'
  const billing_address = Object.fromEntries(ADDRESS_LINES.map(name => [name, text(name)]))
  return {
    amount: penceIn(form.get('amount') ?? ''),
    reference: text('reference'),
    description: text('description'),
    return_url: text('return_url') ?? (isWeb ? back : undefined),
    email: text('email'),
    language: languages.find(known => known === form.get('language')) ?? 'en',
    moto: mode === 'moto',
    authorisation_mode: isWeb ? 'web' : 'moto_api',
    delayed_capture: form.has('delayed_capture'),
    prefilled_cardholder_details: { cardholder_name: text('cardholder_name'), billing_address },
  }
}

const aliases = {
  prefilled_cardholder_details: 'cardholder_name',
  can_retry: 'scenario',
  confirm: 'scenario',
  capture: 'scenario',
}

/** The field for how a payment ends, if nobody decides it on its page, or a refund. There is none while control is off. */
export function scenarioField(
  { account, config }: AccountVisit,
  about: 'Payment' | 'Charge' | 'Refund',
  first: string,
): FormFields {
  const offers = [...offersTo(account.behaviour, about)].filter(([, { plan }]) => !plan.answer)
  const options = [['', first], ...offers.map(([name, { text }]) => [name, text] as const)] as const
  return config.control ? { scenario: { ...scenario, options } } : {}
}

const defaults = (now: number) => ({
  amount: '14.50',
  reference: `CONSOLE-${iso(now).slice(11, 19).replaceAll(':', '')}`,
  description: 'A payment made in the console',
})

function newPaymentForm(visit: AccountVisit, typed: Typed | undefined): Html {
  const { account, root, now } = visit
  const isPrefilled = Object.keys(prefilled).some(
    name => typed?.form.get(name) || typed?.errors[name],
  )
  const action = `${root}payments/new/create`
  const fields = { ...main, ...choices, ...scenarioField(visit, 'Payment', 'as its user decides') }
  const content = html`${fieldParts(typed, fields, defaults(now))}${checkbox({
    name: 'delayed_capture',
    label: 'Capture it later',
    hint: 'Once it is paid it waits in capturable until it is captured',
    checked: typed?.form.has('delayed_capture') ?? false,
  })}
${details('Prefilled details', fieldParts(typed, prefilled), { id: 'prefilled', open: isPrefilled })}
${button({ id: 'create', text: 'Create the payment' })}`
  return html`<h2 class="govuk-heading-m">Ready-made</h2>
${ui.paragraph('Each makes a payment of £14.50 and brings it into its state. Webhooks are sent as usual.')}
${ui.postForm(account, action, readyButtons)}
<h2 class="govuk-heading-m">Your own</h2>
${ui.postForm(account, action, content)}`
}

const readyButtons = buttonGroup(
  Object.entries(readyMade).map(([value, { text }]) =>
    button({ id: `ready-${value}`, text, secondary: true, field: { name: 'ready', value } }),
  ),
)

async function create(visit: PageVisit): Promise<Next | Typed> {
  const name = visit.form.get('ready') ?? ''
  const ready = Object.hasOwn(readyMade, name) ? readyMade[name] : undefined
  const filled = ready && new URLSearchParams({ ...defaults(visit.now), ...ready.fields })
  return submitPayment(visit, bodyIn(filled ?? visit.form, backAddress(visit)), ready)
}

export function submitPayment(visit: PageVisit, body: Json, ready?: Ready): Promise<Next | Typed> {
  const back = backAddress(visit)
  const { behaviour } = visit.account
  const offer = offersTo(behaviour).get(visit.form.get('scenario') ?? '')
  const planned = ready || !visit.config.control ? undefined : offer?.plan
  const fields = { ...main, ...prefilled, scenario }
  /** Reads as the API does, except that the page of the console to which a user returns may have an http address. */
  const read = (body: Json) => {
    const fields = readNewPayment(body, behaviour)
    const { host, hostname } = new URL(back)
    const own = fields.return_url === back && { returnHosts: new Set([host, hostname]) }
    checkReturnUrl(fields, { ...visit.config, ...own, behaviour })
    checkMode(fields, { behaviour })
    const scenario = planned && wantedOf(planned, behaviour, fields.authorisation_mode)
    return { fields, scenario }
  }
  return submit(visit, { fields, body, read, aliases }, wanted =>
    makePayment(visit, wanted, back, ready),
  )
}

/** Runs the API's own create, then the steps of a ready-made payment. No plan of the account acts on the payment. */
async function makePayment(
  { context, account, addresses }: AccountVisit,
  { fields, scenario: applied }: { fields: NewPayment; scenario: Scenario | undefined },
  back: string,
  ready?: Ready,
): Promise<Next> {
  const isOwn = fields.return_url === back
  const { payment, overtaken, refund } = await recordAction(
    context,
    { by: 'console', operation: ready ? 'buildPayment' : 'createPayment' },
    async context => {
      const payment = await createPayment(context, {
        account,
        address: addresses.api,
        given: fields,
        ...(applied && { scenarios: { apply: async () => ({ applied }) } }),
        origin: 'console',
        ...(isOwn && { returnTo: (payment_id: string) => `${back}/${payment_id}` }),
      })
      if (!ready) return { payment }
      const { scenario, refunded } = ready
      // Another request may have been faster: then nothing more is done.
      const result = await carryOut(context, account, payment, { scenario })
      const overtaken = !result?.moved
      if (overtaken || !refunded) return { payment, overtaken }
      // A refund needs the capture, which would be due later.
      if (allows(result.payment, 'confirm_capture'))
        await moveOf(context, account, payment.payment_id, 'confirm_capture')
      const { payment_id } = payment
      const refund = { account, payment_id, refund: { amount: fields.amount } }
      return { payment, refund: await createRefund(context, refund) }
    },
    ({ refund }) => ({ refund_id: refund?.refund_id }),
  )
  const done = overtaken ? 'overtaken' : refund ? 'refunded' : codeOf(payment, ready, applied)
  return { to: `payments/${payment.payment_id}`, done, pence: refund?.amount }
}

function codeOf(payment: Payment, ready?: Ready, chosen?: Scenario): Code {
  if (ready) return endOf(payment, ready.scenario).code
  const { authorisation_mode: mode } = payment.given
  if (mode === 'web') return chosen ? 'chosen' : 'created'
  if (mode === 'moto_api') return chosen ? 'chosen-without-page' : 'created-without-page'
  const status = statusOf(payment)
  if (status === 'failed') return 'declined'
  return status === 'success' ? 'succeeded' : status === 'error' ? 'error' : 'charged'
}

/** The URL to which users of the console's payments return, on the host at which the browser opened the console. */
export function backAddress({ request, config, addresses, base }: AccountVisit): string {
  const { host } = askedFor(request, config)
  const site = [addresses.pages, addresses.api].find(address => new URL(address).host === host)
  return `${site ?? addresses.api}${base}/back`
}
