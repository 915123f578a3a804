/**
 * The hosted pages (SPEC *Hosted payment pages*) as functions of what they show. Each answers a whole HTML
 * document; which one is shown when, and with which status, is for the routes to say.
 */
import type { CardDetails } from '../payments/card.ts'
import {
  button,
  buttonGroup,
  buttonLink,
  errorSummary,
  type RadioItem,
  radios,
  type SummaryRow,
  summaryList,
} from './components.ts'
import { page, type Shell } from './layout.ts'
import { type Html, html } from './markup.ts'
import { cardRows, type PaymentSummary, paymentRows, personRows } from './payment-summary.ts'
import type { Messages } from './text.en.ts'
import { type Language, messages } from './text.ts'

/** Where a page's form posts to, and what it says beside the user's choice. */
export type Form = { action: string; hidden: Record<string, string> }

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
  const content = html`
${error && errorSummary(errorSummaryTitle, [{ text: nothingChosen, href: '#scenario' }])}
<h1 class="govuk-heading-l">${heading}</h1>
${section(text.summary.heading, paymentRows(payment))}
${person.length > 0 && section(text.person.heading, person)}
${formElement(form, [
  scenarioPicker(text, error),
  button({ id: 'submit-card-details', text: text.continueButton }),
])}`
  const title = error ? text.errorTitle(heading) : text.title(heading)
  return page(shell, payment.language, title, content)
}

function scenarioPicker({ details: text }: Messages, error: boolean): Html {
  const items: RadioItem[] = [
    { value: 'success', text: text.success, hint: text.successHint },
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
  const { heading, cardHeading, confirmButton, cancelButton } = text.confirm
  const cardAndPerson = [
    ...cardRows(card, language),
    ...personRows({ ...payment, ...card }, language),
  ]
  const cancel = { name: 'scenario', value: 'cancel' }
  const content = html`
<h1 class="govuk-heading-l">${heading}</h1>
${section(text.summary.heading, paymentRows(payment))}
${section(cardHeading, cardAndPerson)}
${formElement(form, [
  buttonGroup([
    button({ id: 'confirm', text: confirmButton }),
    button({ id: 'cancel-payment', text: cancelButton, secondary: true, field: cancel }),
  ]),
])}`
  return page(shell, language, text.title(heading), content)
}

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
  return page(shell, language, text.title(heading), content)
}

/** For a link that leads to no payment, so in no known language. */
export function notFoundPage(shell: Shell): string {
  return bilingualPage(shell, 'notFound')
}

type Plight =
  | 'notFound'
  | 'badRequest'
  | 'otherSite'
  | 'wrongMethod'
  | 'tooLarge'
  | 'wrongForm'
  | 'fault'

const plights: Record<number, Plight> = {
  403: 'otherSite',
  404: 'notFound',
  405: 'wrongMethod',
  413: 'tooLarge',
  415: 'wrongForm',
}

/** The page for an error status: any status has one. */
export function faultPage(shell: Shell, status: number): string {
  return bilingualPage(shell, plights[status] ?? (status < 500 ? 'badRequest' : 'fault'))
}

/** In English, then shortly in Welsh. */
function bilingualPage(shell: Shell, plight: Plight): string {
  const { en, cy } = messages
  const content = html`
<h1 class="govuk-heading-l">${en[plight].heading}</h1>
${paragraphs(en[plight].body)}
<hr class="govuk-section-break govuk-section-break--l govuk-section-break--visible">
<div lang="cy">
<h2 class="govuk-heading-m">${cy[plight].heading}</h2>
${paragraphs(cy[plight].body)}
</div>`
  return page(shell, 'en', en.title(en[plight].heading), content)
}

function section(heading: string, rows: SummaryRow[]): Html {
  return html`<h2 class="govuk-heading-m">${heading}</h2>
${summaryList(rows)}`
}

function paragraphs(sentences: string[]): Html {
  return html`${sentences.map(sentence => html`<p class="govuk-body">${sentence}</p>\n`)}`
}

function formElement({ action, hidden }: Form, content: Html[]): Html {
  return html`<form method="post" action="${action}">
${Object.entries(hidden).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
)}${content}
</form>`
}
