/**
 * Components of GOV.UK Frontend as typed functions, with the options that our pages use. A test compares
 * each with the official macro, so an upgrade that changes the markup fails the test.
 */
import { type Html, html, type Part } from './html.ts'

export function skipLink(text: string): Html {
  return html`<a href="#main-content" class="govuk-skip-link" data-module="govuk-skip-link">${text}</a>`
}

/** The header for services that are not on GOV.UK. The name is plain text, because there is no home page to link to. */
export function genericHeader(serviceName: string): Html {
  return html`<div class="govuk-generic-header farthing-header">
  <div class="govuk-generic-header__container govuk-width-container">
    <div class="govuk-generic-header__logo">
      <span class="farthing-header__name">${serviceName}</span>
    </div>
  </div>
</div>`
}

export function phaseBanner(tag: string, text: string): Html {
  return html`<div class="govuk-phase-banner govuk-width-container">
  <p class="govuk-phase-banner__content">
    <strong class="govuk-tag govuk-phase-banner__content__tag govuk-tag--orange">${tag}</strong>
    <span class="govuk-phase-banner__text">${text}</span>
  </p>
</div>`
}

/** One row. `id` is the element id of the value, which may be HTML, such as the lines of an address. */
export type SummaryRow = { id: string; key: string; value: string | Html; emphasised?: boolean }

/** `bdi` keeps right-to-left text in one value from reordering the text around it. */
export function summaryList(rows: SummaryRow[]): Html {
  return html`<dl class="govuk-summary-list">
${rows.map(
  row => html`  <div class="govuk-summary-list__row${row.emphasised && ' farthing-total'}">
    <dt class="govuk-summary-list__key">${row.key}</dt>
    <dd class="govuk-summary-list__value"><bdi id="${row.id}">${row.value}</bdi></dd>
  </div>
`,
)}</dl>`
}

export function errorSummary(title: string, errors: { text: string; href: string }[]): Html {
  return html`<div class="govuk-error-summary" data-module="govuk-error-summary">
  <div role="alert">
    <h2 class="govuk-error-summary__title">${title}</h2>
    <div class="govuk-error-summary__body">
      <ul class="govuk-list govuk-error-summary__list">
${errors.map(error => html`        <li><a href="${error.href}">${error.text}</a></li>\n`)}      </ul>
    </div>
  </div>
</div>`
}

/** `prefix` is read out by screen readers before the text, such as "Error". */
export type ErrorMessage = { text: string; prefix: string }

export function errorMessage(id: string, { text, prefix }: ErrorMessage): Html {
  return html`<p id="${id}" class="govuk-error-message"><span class="govuk-visually-hidden">${prefix}:</span> ${text}</p>`
}

function hint(id: string, text: string, className?: string): Html {
  return html`<div id="${id}" class="govuk-hint${className && ` ${className}`}">${text}</div>`
}

export type RadioItem = { value: string; text: string; hint: string } | { divider: string }

export type Radios = {
  name: string
  legend: string
  hint: string
  items: RadioItem[]
  error?: ErrorMessage | undefined
}

/**
 * Radio buttons in a fieldset. None is preselected. The first has the id `name`, the others have `name-2`
 * and so on. A divider takes a number too.
 */
export function radios({ name, legend, hint: hintText, items, error }: Radios): Html {
  const hintId = `${name}-hint`
  const errorId = `${name}-error`
  return html`<div class="govuk-form-group${error && ' govuk-form-group--error'}">
  <fieldset class="govuk-fieldset" aria-describedby="${hintId}${error && ` ${errorId}`}">
    <legend class="govuk-fieldset__legend govuk-fieldset__legend--m">${legend}</legend>
    ${hint(hintId, hintText)}
    ${error && errorMessage(errorId, error)}
    <div class="govuk-radios" data-module="govuk-radios">
${items.map((item, position) => radioItem(name, position, item))}    </div>
  </fieldset>
</div>`
}

function radioItem(name: string, position: number, item: RadioItem): Html {
  if ('divider' in item)
    return html`      <div class="govuk-radios__divider">${item.divider}</div>\n`
  const id = position === 0 ? name : `${name}-${position + 1}`
  const hintId = `${id}-item-hint`
  return html`      <div class="govuk-radios__item">
        <input class="govuk-radios__input" id="${id}" name="${name}" type="radio" value="${item.value}" aria-describedby="${hintId}">
        <label class="govuk-label govuk-radios__label" for="${id}">${item.text}</label>
        ${hint(hintId, item.hint, 'govuk-radios__hint')}
      </div>
`
}

export type Button = {
  id: string
  text: string
  secondary?: boolean
  /** Sent with the form if the user pressed this button. */
  field?: { name: string; value: string }
  /** The id of the form to submit, if it is not the form around the button. */
  form?: string
}

/** A submit button. Its script ignores a second click within a second. */
export function button({ id, text, secondary, field, form }: Button): Html {
  const sent = field && html` value="${field.value}" name="${field.name}"`
  const owner = form && html` form="${form}"`
  return html`<button type="submit"${sent}${owner} data-prevent-double-click="true" class="govuk-button${
    secondary && ' govuk-button--secondary'
  }" data-module="govuk-button" id="${id}">${text}</button>`
}

/** A link that looks like a button. Its script lets the space bar activate it. */
export function buttonLink(id: string, text: string, href: string): Html {
  return html`<a href="${href}" role="button" draggable="false" class="govuk-button" data-module="govuk-button" id="${id}">${text}</a>`
}

/** Buttons side by side. Pressing Enter in the form activates the first. */
export function buttonGroup(buttons: Part[]): Html {
  return html`<div class="govuk-button-group">${buttons.map(one => html`\n  ${one}`)}
</div>`
}
