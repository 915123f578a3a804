/**
 * The hosted pages (SPEC *Hosted payment pages*) as functions of what they show. Each answers a whole HTML
 * document; which one is shown when, and with which status, is for the routes to say.
 */
import type { CardDetails } from '../payments/card.ts'
import type { Language } from '../payments/payment.ts'
import {
  button,
  buttonGroup,
  buttonLink,
  errorSummary,
  type RadioItem,
  radios,
  type SummaryRow,
  summaryList,
} from '../web/components.ts'
import { type Html, html } from '../web/html.ts'
import { page, type Shell } from '../web/layout.ts'
import { cardRows, type PaymentSummary, paymentRows, personRows } from './summary.ts'
import type { Messages } from './text.en.ts'
import { messages } from './text.ts'

/** Where a page's form posts to, and what it says beside the user's choice. */
export type Form = { id?: string; action: string; hidden: Record<string, string> }

/** The ways in which a journey ends on a page of ours: SPEC *States and transitions*. */
export type Ending = 'cancelled' | 'declined' | 'technical'

/** The first page. With `error` it says that nothing was chosen: SPEC *States and transitions*, rule 3. */
export function detailsPage(
  shell: Shell,
  payment: PaymentSummary,
  form: Form,
  { error }: { error: boolean },
): string {
  const text = messages[payment.language]
  const { heading, errorSummaryTitle, nothingChosen } = text.details
  const person = personRows(payment, payment.language)
  const top = html`
${error && errorSummary(errorSummaryTitle, [{ text: nothingChosen, href: '#scenario' }])}
<h1 class="govuk-heading-l">${heading}</h1>`
  // A form of its own, so that Cancel counts whatever is chosen in the picker.
  const cancel = { id: 'cancel', action: form.action, hidden: form.hidden }
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
  const title = error ? text.errorTitle(heading) : text.title(heading)
  return page(shell, payment.language, title, beside(paymentPanel(payment), top, rest))
}

function scenarioPicker(
  { details: text }: Messages,
  { delayed_capture }: PaymentSummary,
  error: boolean,
): Html {
  const successHint = delayed_capture ? text.capturableHint : text.successHint
  const items: RadioItem[] = [
    { value: 'success', text: text.success, hint: successHint },
    { value: 'declined', text: text.declined, hint: text.declinedHint },
    { value: 'error', text: text.error, hint: text.errorHint },
    { divider: text.or },
    { value: 'cancel', text: text.cancel, hint: text.cancelHint },
  ]
  return radios({
    name: 'scenario',
    legend: text.legend,
    hint: text.hint,
    items,
    error: error ? { text: text.nothingChosen, prefix: text.errorPrefix } : undefined,
  })
}

/** The second page, after the success scenario was chosen. `card` is the mock card to be shown. */
export function confirmPage(
  shell: Shell,
  payment: PaymentSummary & { card: CardDetails },
  form: Form,
): string {
  const { language, card } = payment
  const text = messages[language]
  const { heading, cardHeading, confirmButton } = text.confirm
  const cardAndPerson = [
    ...cardRows(card, language),
    ...personRows({ ...payment, ...card }, language),
  ]
  const top = html`<h1 class="govuk-heading-l">${heading}</h1>`
  const rest = html`
${section(cardHeading, cardAndPerson)}
${formElement(form, [
  buttonGroup([button({ id: 'confirm', text: confirmButton }), cancelButton(text)]),
])}`
  return page(shell, language, text.title(heading), beside(paymentPanel(payment), top, rest))
}

/** Sends the form with the id `form`, or the one around it. */
const cancelButton = (text: Messages, form?: string): Html =>
  button({
    id: 'cancel-payment',
    text: text.cancelButton,
    secondary: true,
    field: { name: 'scenario', value: 'cancel' },
    ...(form && { form }),
  })

/** Tells how the journey ended; its Continue leads to `returnUrl`, unchanged. */
export function endPage(
  shell: Shell,
  ending: Ending,
  language: Language,
  returnUrl: string,
): string {
  const text = messages[language]
  const { heading, body } = text[ending]
  const content = html`
<h1 class="govuk-heading-l">${heading}</h1>
${paragraphs([...body, text.goBack])}
${buttonLink('return-url', text.continueButton, returnUrl)}`
  return page(shell, language, text.title(heading), twoThirds(content))
}

type Fault =
  | 'notFound'
  | 'badRequest'
  | 'otherSite'
  | 'wrongMethod'
  | 'tooLarge'
  | 'wrongForm'
  | 'fault'

const faults: Record<number, Fault> = {
  403: 'otherSite',
  404: 'notFound',
  405: 'wrongMethod',
  413: 'tooLarge',
  415: 'wrongForm',
}

/**
 * The page for an error status: any status has one. There is no payment whose language is known, so it
 * is in English, then shortly in Welsh.
 */
export function faultPage(shell: Shell, status: number): string {
  const fault = faults[status] ?? (status < 500 ? 'badRequest' : 'fault')
  const { en, cy } = messages
  const content = html`
<h1 class="govuk-heading-l">${en[fault].heading}</h1>
${paragraphs(en[fault].body)}
<hr class="govuk-section-break govuk-section-break--l govuk-section-break--visible">
<div lang="cy">
<h2 class="govuk-heading-m">${cy[fault].heading}</h2>
${paragraphs(cy[fault].body)}
</div>`
  return page(shell, 'en', en.title(en[fault].heading), twoThirds(content))
}

const twoThirds = (content: Html): Html => html`<div class="govuk-grid-row">
<div class="govuk-grid-column-two-thirds">
${content}
</div>
</div>`

/** Two columns on a wide screen, with `panel` on the right; on a narrow one it stands between the others. */
const beside = (panel: Html, top: Html, rest: Html): Html => html`<div class="farthing-columns">
<div>
${top}
</div>
${panel}
<div>
${rest}
</div>
</div>`

const paymentPanel = (payment: PaymentSummary): Html => html`<div class="farthing-panel">
${section(messages[payment.language].summary.heading, paymentRows(payment))}
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
