/**
 * The hosted pages as functions that return a whole HTML document (Specification, *Hosted payment pages*).
 * The routes decide which page is shown when, and with which status.
 */

import { inPounds } from '../../core/money.ts'
import {
  button,
  buttonGroup,
  buttonLink,
  errorSummary,
  radios,
  type SummaryRow,
  summaryList,
} from '../../platform/web/components.ts'
import { type Html, html } from '../../platform/web/html.ts'
import * as layout from '../../platform/web/layout.ts'
import type { BillingAddress, CardDetails, Prefilled } from '../card.ts'
import {
  type FailureCode,
  type Language,
  type NewPayment,
  type Payment,
  stateOf,
} from '../payments/payment.ts'
import { cy } from './text.cy.ts'
import { en, type Messages } from './text.en.ts'

export const messages: Record<Language, Messages> = { en, cy }

export type Site = {
  /** The path of the pages' public address, without a slash at its end. */
  basePath: string
  /** The name in the header and in titles. Default: Farthing's name in the language of the page. */
  serviceName?: string | undefined
}

/** Puts `content` into a document with Farthing's header, banner and footer. */
export function page(
  site: Site,
  language: Language,
  { title, content, ...options }: { title: string; content: Html } & layout.PageOptions,
): string {
  const shell = { ...messages[language].shell, serviceName: serviceNameFor(site, language) }
  return layout.page({ basePath: site.basePath, language, ...shell }, title, content, options)
}

const serviceNameFor = ({ serviceName }: Site, language: Language): string =>
  serviceName ?? messages[language].shell.serviceName

const pageHeaded = (site: Site, language: Language, heading: string, content: Html): string =>
  page(site, language, { title: `${heading} - ${serviceNameFor(site, language)}`, content })

/** The form of a page: the address it posts to, and its hidden fields. */
export type Form = { id?: string; action: string; hidden: Record<string, string> }

/** The first page. With `error` it shows that no scenario was chosen. */
export function detailsPage(
  site: Site,
  payment: PaymentSummary,
  form: Form,
  { error }: { error: boolean },
): string {
  const text = messages[payment.language]
  const { heading, errorSummaryTitle, nothingChosen } = text.details
  const person = personRows(payment, text)
  const top = html`
${error && errorSummary(errorSummaryTitle, [{ text: nothingChosen, href: '#scenario' }])}
<h1 class="govuk-heading-l">${heading}</h1>`
  // Cancel has a form of its own, so that it works whichever scenario is chosen in the picker.
  const cancel = { ...form, id: 'cancel' }
  const rest = html`
${person.length > 0 && section(text.person.heading, person)}
${formElement(form, [
  scenarioPicker(text, payment, error),
  buttonGroup([
    button({ id: 'submit-card-details', text: text.continueButton }),
    cancelButton(text, cancel.id),
  ]),
])}
${formElement(cancel, [])}`
  const title = error ? text.errorTitle(heading) : heading
  return pageHeaded(site, payment.language, title, beside(payment, text, top, rest))
}

function scenarioPicker(
  { details: text }: Messages,
  { delayed_capture }: PaymentSummary,
  error: boolean,
): Html {
  const successHint = delayed_capture ? text.capturableHint : text.successHint
  return radios({
    name: 'scenario',
    legend: text.legend,
    hint: text.hint,
    items: [
      { value: 'success', text: text.success, hint: successHint },
      { value: 'declined', text: text.declined, hint: text.declinedHint },
      { value: 'error', text: text.error, hint: text.errorHint },
      { divider: text.or },
      { value: 'cancel', text: text.cancel, hint: text.cancelHint },
    ],
    error: error ? { text: text.nothingChosen, prefix: text.errorPrefix } : undefined,
  })
}

/** The second page, shown after the success scenario was chosen. `card` is the mock card. */
export function confirmPage(
  site: Site,
  payment: PaymentSummary & { card: CardDetails },
  form: Form,
): string {
  const { language, card } = payment
  const text = messages[language]
  const { heading, cardHeading, confirmButton } = text.confirm
  const cardAndPerson = [...cardRows(card, text), ...personRows({ ...payment, ...card }, text)]
  const top = html`<h1 class="govuk-heading-l">${heading}</h1>`
  const rest = html`
${section(cardHeading, cardAndPerson)}
${formElement(form, [
  buttonGroup([button({ id: 'confirm', text: confirmButton }), cancelButton(text)]),
])}`
  return pageHeaded(site, language, heading, beside(payment, text, top, rest))
}

/** Submits the form with the id `form`, or the form around it. */
const cancelButton = (text: Messages, form?: string): Html =>
  button({
    id: 'cancel-payment',
    text: text.cancelButton,
    secondary: true,
    field: { name: 'scenario', value: 'cancel' },
    ...(form && { form }),
  })

export type ReturnLink = { language: Language; returnUrl: string }

const endings = {
  P0010: 'declined',
  P0020: 'expired',
  P0030: 'cancel',
  P0040: 'cancelledByService',
  P0050: 'error',
} as const satisfies Record<FailureCode, keyof Messages>
type Ending = (typeof endings)[FailureCode] | 'paid'

export function endingOf(payment: Payment): Ending {
  const { code } = stateOf(payment)
  return code ? endings[code] : 'paid'
}

/** The page that says how a payment ended (Specification, *States and transitions*). */
export function endPage(site: Site, ending: Ending, way: ReturnLink): string {
  const { [ending]: text, continueHint } = messages[way.language]
  return messagePage(site, way, { ...text, body: [...text.body, continueHint] })
}

type Sentences = { heading: string; body: string[] }

function messagePage(site: Site, way: ReturnLink, { heading, body }: Sentences): string {
  const content = html`
<h1 class="govuk-heading-l">${heading}</h1>
${paragraphs(body)}
${buttonLink('return-url', messages[way.language].continueButton, way.returnUrl)}`
  return pageHeaded(site, way.language, heading, layout.twoThirds(content))
}

const errorPages = {
  403: 'otherSite',
  404: 'notFound',
  405: 'wrongMethod',
  413: 'tooLarge',
  415: 'wrongForm',
} as const

/**
 * The page for any error status. If it is about a payment, it is in the language of the payment and has a button to
 * its return_url. Otherwise it is in English with a section in Welsh.
 */
export function errorPage(site: Site, status: number, way?: ReturnLink): string {
  const name =
    errorPages[status as keyof typeof errorPages] ?? (status < 500 ? 'badRequest' : 'fault')
  if (way) return messagePage(site, way, messages[way.language][name])
  const content = html`
<h1 class="govuk-heading-l">${en[name].heading}</h1>
${paragraphs(en[name].body)}
<hr class="govuk-section-break govuk-section-break--l govuk-section-break--visible">
<div lang="cy">
<h2 class="govuk-heading-m">${cy[name].heading}</h2>
${paragraphs(cy[name].body)}
</div>`
  return pageHeaded(site, 'en', en[name].heading, layout.twoThirds(content))
}

/** On a wide screen the panel of the payment is on the right of the rest. On a narrow one it is between `top` and `rest`. */
const beside = (payment: PaymentSummary, text: Messages, top: Html, rest: Html): Html =>
  html`<div class="farthing-columns">
<div>
${top}
</div>
<div class="farthing-panel">
${section(text.summary.heading, paymentRows(payment, text))}
</div>
<div>
${rest}
</div>
</div>`

function section(heading: string, rows: SummaryRow[]): Html {
  return html`<h2 class="govuk-heading-m">${heading}</h2>
${summaryList(rows)}`
}

function paragraphs(sentences: string[]): Html {
  return html`${sentences.map(sentence => html`<p class="govuk-body">${sentence}</p>\n`)}`
}

function formElement({ id, action, hidden }: Form, content: Html[]): Html {
  return html`<form${id && html` id="${id}"`} method="post" action="${action}">
${Object.entries(hidden).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
)}${content}
</form>`
}

/** The fields of a payment that its pages show. Fields that the client did not send are absent. */
export type PaymentSummary = Pick<
  NewPayment,
  'description' | 'reference' | 'amount' | 'language' | 'email' | 'delayed_capture'
> &
  Prefilled & {
    /** The description of the agreement that the payment sets up. */
    agreement?: string | undefined
  }

function paymentRows(payment: PaymentSummary, { summary: text }: Messages): SummaryRow[] {
  const agreement = payment.agreement && html`${payment.agreement}<br>${text.cardKept}`
  return [
    { id: 'payment-description', key: text.description, value: payment.description },
    { id: 'payment-reference', key: text.reference, value: payment.reference },
    { id: 'amount', key: text.total, value: inPounds(payment.amount), emphasised: true },
    ...presentRows([['agreement-description', text.agreement, agreement]]),
  ]
}

/** The known details of the payer. There may be no rows. */
function personRows(person: PaymentSummary, { person: text, language }: Messages): SummaryRow[] {
  return presentRows([
    ['cardholder-name', text.name, person.cardholder_name],
    ['address', text.address, addressLines(person.billing_address, language)],
    ['email', text.email, person.email],
  ])
}

function cardRows(card: CardDetails, { confirm: text }: Messages): SummaryRow[] {
  const { card_brand: brand, last_digits_card_number: lastDigits } = card
  const kind = { credit: text.creditCard, debit: text.debitCard }
  return presentRows([
    ['card-type', text.cardType, brand && card.card_type ? kind[card.card_type](brand) : brand],
    ['card-number', text.cardNumber, lastDigits && text.endingIn(lastDigits)],
    ['expiry-date', text.expiryDate, card.expiry_date],
  ])
}

const countries: Partial<Record<Language, Intl.DisplayNames>> = {}

/** The name of the country. Its code stays in the markup as it was sent, for test suites to read. */
function countryName(code: string, language: Language): Html {
  const locale = language === 'en' ? 'en-GB' : language
  countries[language] ??= new Intl.DisplayNames(locale, { type: 'region' })
  return html`<data value="${code}">${countries[language].of(code.toUpperCase())}</data>`
}

/** The lines of an address in the order of an envelope. Each line has a text direction of its own. */
function addressLines(address: BillingAddress | undefined, language: Language): Html | undefined {
  if (!address) return
  const { line1, line2, city, postcode, country } = address
  const lines = [line1, line2, city, postcode, country && countryName(country, language)]
  const filled = lines.filter(line => line !== undefined && line !== '')
  if (filled.length === 0) return
  return html`${filled.map((line, i) => html`${i > 0 && html`<br>`}<bdi>${line}</bdi>`)}`
}

function presentRows(rows: [id: string, key: string, value: string | Html | undefined][]) {
  return rows.flatMap(([id, key, value]) => (value ? [{ id, key, value }] : []))
}
