/**
 * Components of GOV.UK Frontend as typed functions, with the options that our pages use. A test compares
 * each with the official macro, so an upgrade that changes the markup fails the test.
 */
import { type Html, html, type Part } from './html.ts'

export const skipLink = (text: string): Html =>
  html`<a href="#main-content" class="govuk-skip-link" data-module="govuk-skip-link">${text}</a>`

/** The header for services that are not on GOV.UK. The name is plain text, because there is no home page to link to. */
export const genericHeader = (serviceName: string): Html =>
  html`<div class="govuk-generic-header farthing-header">
  <div class="govuk-generic-header__container govuk-width-container">
    <div class="govuk-generic-header__logo">
      <span class="farthing-header__name">${serviceName}</span>
    </div>
  </div>
</div>`

export const phaseBanner = (tag: string, text: string): Html =>
  html`<div class="govuk-phase-banner govuk-width-container">
  <p class="govuk-phase-banner__content">
    <strong class="govuk-tag govuk-phase-banner__content__tag govuk-tag--orange">${tag}</strong>
    <span class="govuk-phase-banner__text">${text}</span>
  </p>
</div>`

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
type ErrorMessage = { text: string; prefix: string }

export const errorMessage = (id: string, { text, prefix }: ErrorMessage): Html =>
  html`<p id="${id}" class="govuk-error-message"><span class="govuk-visually-hidden">${prefix}:</span> ${text}</p>`

export function hint(id: string, text: Part, className?: string): Html {
  return html`<div id="${id}" class="govuk-hint${className && ` ${className}`}">${text}</div>`
}

type RadioItem = { value: string; text: string; hint: Part } | { divider: string }

type Radios = {
  name: string
  legend: string
  hint: string
  items: RadioItem[]
  error?: ErrorMessage | undefined
}

/** Radio buttons, none selected. The first has the id `name`, the others `name-2` and so on. Dividers count too. */
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

type Button = {
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
export const buttonLink = (id: string, text: Part, href: string, { secondary = false } = {}) =>
  html`<a href="${href}" role="button" draggable="false" class="govuk-button${secondary && ' govuk-button--secondary'}" data-module="govuk-button" id="${id}">${text}</a>`

export function buttonGroup(buttons: Part[]): Html {
  return html`<div class="govuk-button-group">${buttons.map(one => html`\n  ${one}`)}
</div>`
}

export type TagColour = 'blue' | 'green' | 'grey' | 'orange' | 'red'

export function tag(text: string, colour?: TagColour): Html {
  return html`<strong class="govuk-tag${colour && ` govuk-tag--${colour}`}">${text}</strong>`
}

/** `numeric`: aligned to the right. `leads`: first in a card. `wide`: has almost half of the width. */
export type Column = { text: string; numeric?: boolean; leads?: boolean; wide?: boolean }

export type Table = {
  /** Read out before the table. */
  caption: string
  showsCaption?: true | undefined
  columns: Column[]
  /** One part for each column, or a note across all of them. */
  rows: (Part[] | { note: Part })[]
}

/** On a phone each row is a card, in which a cell has the name of its column. */
export function table({ caption, showsCaption, columns, rows }: Table): Html {
  const look = showsCaption ? 'govuk-table__caption--m' : 'govuk-visually-hidden'
  return html`<table class="govuk-table farthing-cards">
<caption class="govuk-table__caption ${look}">${caption}</caption>
<thead class="govuk-table__head">
<tr class="govuk-table__row">${columns.map(
    ({ text, numeric, wide }) =>
      html`<th scope="col" class="govuk-table__header${numeric && ' govuk-table__header--numeric'}${wide && ' farthing-wide'}">${text}</th>`,
  )}</tr>
</thead>
<tbody class="govuk-table__body">
${rows.map(row =>
  'note' in row
    ? html`<tr class="govuk-table__row farthing-note"><td class="govuk-table__cell" colspan="${columns.length}">${row.note}</td></tr>\n`
    : html`<tr class="govuk-table__row">${row.map((cell, i) => tableCell(cell, i, columns[i]))}</tr>\n`,
)}</tbody>
</table>`
}

function tableCell(cell: Part, position: number, column: Column | undefined): Html {
  if (position === 0) return html`<th scope="row" class="govuk-table__header">${cell}</th>`
  const { text = '', numeric, leads } = column ?? {}
  const looks = `${numeric ? ' govuk-table__cell--numeric' : ''}${leads ? ' farthing-leads' : ''}`
  return html`<td class="govuk-table__cell${looks}" data-label="${text}">${cell}</td>`
}

/** Links to the neighbours of a list that is ordered by time; no link where there is no neighbour. */
type Pagination = { label: string; newer: string | undefined; older: string | undefined }

export const pagination = ({ label, newer, older }: Pagination): Html =>
  html`<nav class="govuk-pagination govuk-pagination--block" aria-label="${label}">
${newer !== undefined && paginationLink('prev', newer, 'Newer')}
${older !== undefined && paginationLink('next', older, 'Older')}
</nav>`

const arrows = {
  prev: 'm6.5938-0.0078125-6.7266 6.7266 6.7441 6.4062 1.377-1.449-4.1856-3.9768h12.896v-2h-12.984l4.2931-4.293-1.414-1.414z',
  next: 'm8.107-0.0078125-1.4136 1.414 4.2926 4.293h-12.986v2h12.896l-4.1855 3.9766 1.377 1.4492 6.7441-6.4062-6.7246-6.7266z',
}

const paginationLink = (to: keyof typeof arrows, href: string, text: string): Html =>
  html`<div class="govuk-pagination__${to}">
<a class="govuk-link govuk-pagination__link" href="${href}" rel="${to}">
<svg class="govuk-pagination__icon govuk-pagination__icon--${to}" xmlns="http://www.w3.org/2000/svg" height="13" width="15" aria-hidden="true" focusable="false" viewBox="0 0 15 13"><path d="${arrows[to]}"></path></svg>
<span class="govuk-pagination__link-title govuk-pagination__link-title--decorated">${text}</span>
</a>
</div>`

/** A summary that unfolds to the content. It needs no script. */
export function details(summary: string, content: Part, { id, open }: DetailsOptions = {}): Html {
  return html`<details${id && html` id="${id}"`} class="govuk-details"${open && html` open`}>
<summary class="govuk-details__summary"><span class="govuk-details__summary-text">${summary}</span></summary>
<div class="govuk-details__text">${content}</div>
</details>`
}

type DetailsOptions = { id?: string; open?: boolean }

export const backLink = (href: string, text: Part): Html =>
  html`<a href="${href}" class="govuk-back-link">${text}</a>`

type NavigationItem = { text: string; href: string; current: boolean }

/** The navigation of a service. `end` stands at its right. Its script folds it into a menu on a phone. */
export const serviceNavigation = (items: NavigationItem[], end: Html): Html =>
  html`<section aria-label="Service information" class="govuk-service-navigation" data-module="govuk-service-navigation">
<div class="govuk-width-container govuk-service-navigation__inlining-container">
<div class="govuk-service-navigation__container">
<nav aria-label="Menu" class="govuk-service-navigation__wrapper">
<button type="button" class="govuk-service-navigation__toggle govuk-js-service-navigation-toggle" aria-controls="navigation" hidden aria-hidden="true">Menu</button>
<ul class="govuk-service-navigation__list" id="navigation">
${items.map(navigationItem)}</ul>
</nav>
</div>
${end}
</div>
</section>`

const navigationItem = ({ text, href, current }: NavigationItem): Html =>
  html`<li class="govuk-service-navigation__item${current && ' govuk-service-navigation__item--active'}">
<a class="govuk-service-navigation__link" href="${href}"${current && html` aria-current="true"`}>${
    current
      ? html`<strong class="govuk-service-navigation__active-fallback">${text}</strong>`
      : text
  }</a>
</li>
`

/** Says what an action has done. A `success` is green, and takes the focus where scripts run. */
export const notificationBanner = (text: string, { success = false } = {}): Html =>
  html`<div class="govuk-notification-banner${success && ' govuk-notification-banner--success'}" role="${success ? 'alert' : 'region'}" aria-labelledby="govuk-notification-banner-title" data-module="govuk-notification-banner">
<div class="govuk-notification-banner__header">
<h2 class="govuk-notification-banner__title" id="govuk-notification-banner-title">${success ? 'Success' : 'Important'}</h2>
</div>
<div class="govuk-notification-banner__content">
<p class="govuk-notification-banner__heading">${text}</p>
</div>
</div>`

export const insetText = (content: Part): Html =>
  html`<div class="govuk-inset-text">${content}</div>`

/** A summary list in a card below a second heading. The title may be a link. */
export const summaryCard = (title: Part, rows: SummaryRow[]): Html =>
  html`<div class="govuk-summary-card">
<div class="govuk-summary-card__title-wrapper">
<h3 class="govuk-summary-card__title">${title}</h3>
</div>
<div class="govuk-summary-card__content">
${summaryList(rows)}
</div>
</div>`
