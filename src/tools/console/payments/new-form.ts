/** The form of a new payment: what was typed becomes the body of the API's own create. */
import { penceIn } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import { languages, type Scenario } from '../../../pay/payments/payment.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button, buttonGroup, details } from '../../../platform/web/components.ts'
import { checkbox, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { amountInput, type Typed, typedInput } from '../frame/form.ts'
import type { AccountVisit } from '../frame/page.ts'
import { paragraph, postForm } from '../frame/parts.ts'

/** A payment that is made in a state, with the code of the endpoints that lead there. */
export type Ready = {
  text: string
  scenario: Scenario
  /** What its form has beside what the fields have at first. */
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

/** What the form calls its text fields, in the order of the page. */
export const labels = {
  amount: 'Amount in pounds',
  reference: 'Reference',
  description: 'Description',
  return_url: 'Return URL',
  email: 'Email',
  cardholder_name: 'Name on the card',
  line1: 'Address line 1',
  line2: 'Address line 2',
  city: 'Town or city',
  postcode: 'Postcode',
  country: 'Country',
}
type Text = keyof typeof labels

const TEXTS = Object.keys(labels) as Text[] // its keys
const PREFILLED = TEXTS.slice(TEXTS.indexOf('email'))
const ADDRESS = ['line1', 'line2', 'city', 'postcode', 'country'] as const

const modes = {
  web: 'The user pays on the payment pages',
  moto: 'By post or telephone, on the payment pages (moto)',
  moto_api: 'Your service sends the card (moto_api)',
}

/** The body for the API, without an amount where none can be read. `back` is where the user returns unless said otherwise. */
export function bodyIn(form: URLSearchParams, back: string): Json {
  const text = (name: Text) => form.get(name)?.trim() || undefined
  const mode = form.get('mode')
  const isWeb = mode !== 'moto_api'
  const billing_address = Object.fromEntries(ADDRESS.map(name => [name, text(name)]))
  return {
    amount: penceIn(form.get('amount') ?? ''),
    reference: text('reference'),
    description: text('description'),
    return_url: text('return_url') ?? (isWeb ? back : undefined),
    email: text('email'),
    language: languages.find(each => each === form.get('language')) ?? 'en',
    moto: mode === 'moto',
    authorisation_mode: isWeb ? 'web' : 'moto_api',
    delayed_capture: form.has('delayed_capture'),
    prefilled_cardholder_details: { cardholder_name: text('cardholder_name'), billing_address },
  }
}

export const aliases = { prefilled_cardholder_details: 'cardholder_name' }

/** What of a body is right in place of an error in a field. */
export const mended =
  (back: string) =>
  (field: string): Json | undefined =>
    ({
      amount: { amount: 1 },
      reference: { reference: 'R' },
      description: { description: 'D' },
      return_url: { return_url: back, authorisation_mode: 'web' },
      email: { email: undefined },
    })[field] ??
    (field in aliases || PREFILLED.some(name => name === field)
      ? { prefilled_cardholder_details: undefined }
      : undefined)

export const sentences = { amount: 'Enter an amount in pounds, from 0.00 to 100000.00' }

const hints: Partial<Record<Text, string>> = {
  return_url: 'Without one the user returns to a page of this console',
  country: 'Two letters, such as GB',
}

/** What the fields have at first. */
export const defaults = (now: number) => ({
  amount: '14.50',
  reference: `CONSOLE-${iso(now).slice(11, 19).replaceAll(':', '')}`,
  description: 'A payment made in the console',
})

/** With `typed` it is the response to the form. */
export function newPaymentForm(visit: AccountVisit, typed: Typed | undefined): Html {
  const { account, root, now } = visit
  const first: Partial<Record<string, string>> = defaults(now)
  const field = (name: Text) => {
    const input = name === 'amount' ? amountInput : typedInput
    return input(typed, { name, label: labels[name], value: first[name] ?? '', hint: hints[name] })
  }
  const isPrefilled = PREFILLED.some(name => typed?.form.get(name) || typed?.errors[name])
  const action = `${root}payments/new/create`
  const fields = html`${TEXTS.filter(name => !PREFILLED.includes(name)).map(field)}
${select({
  name: 'mode',
  label: 'How it is paid',
  options: Object.entries(modes).map(([value, text]) => ({ value, text })),
  value: typed?.form.get('mode') ?? 'web',
})}
${select({
  name: 'language',
  label: 'Language of the payment pages',
  options: [
    { value: 'en', text: 'English' },
    { value: 'cy', text: 'Welsh' },
  ],
  value: typed?.form.get('language') ?? 'en',
})}
${checkbox({
  name: 'delayed_capture',
  label: 'Capture it later',
  hint: 'Once it is paid it waits in capturable until it is captured',
  checked: typed?.form.has('delayed_capture') ?? false,
})}
${details('Prefilled details', html`${PREFILLED.map(field)}`, { id: 'prefilled', open: isPrefilled })}
${button({ id: 'create', text: 'Create the payment' })}`
  return html`<h2 class="govuk-heading-m">Ready-made</h2>
${paragraph('Each makes a payment of £14.50 and brings it into its state. Webhooks are sent as usual.')}
${postForm(account, action, readyButtons)}
<h2 class="govuk-heading-m">Your own</h2>
${postForm(account, action, fields)}`
}

const readyButtons = buttonGroup(
  Object.entries(readyMade).map(([value, { text }]: [string, Ready]) =>
    button({ id: `ready-${value}`, text, secondary: true, field: { name: 'ready', value } }),
  ),
)
