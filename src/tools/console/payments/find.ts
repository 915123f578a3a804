/** What the list of payments can be searched by, and what is said of a search. */

import { inDigits, inPounds, penceIn } from '../../../core/money.ts'
import { statuses } from '../../../pay/payments/payment.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import {
  MOST_BEGINNINGS,
  MOST_SEARCHED,
  type PaymentFilter,
  type Sought,
} from '../../lists/find-payments-store.ts'
import { dayFilter, type Filters, oneOf, type PageVisit, spanIn } from '../frame/list.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'

const REFUNDED = 'refunded'

export const filters = {
  q: { label: 'Reference, ID, email, amount or metadata', type: 'search', isSlow: true },
  status: oneOf('Status', [...statuses, REFUNDED], {
    nameOf: status => (status === REFUNDED ? 'refunded, wholly or partly' : status),
  }),
  from: dayFilter('From (UTC)'),
  to: dayFilter('To (UTC)'),
} satisfies Filters
export type Visit = PageVisit<typeof filters>
type Filtered = Visit['values']

export const filterOf = ({ q, status, from, to }: Filtered, now: number): PaymentFilter => ({
  status: status === REFUNDED ? 'success' : status || undefined,
  refunded: status === REFUNDED,
  from: spanIn(from, now)?.begin,
  until: spanIn(to, now)?.end,
  sought: q === '' ? undefined : soughtIn(q),
})

/** Digits alone are part of a reference; with a pound sign or two decimals they are an amount. */
const AMOUNT = /^(£.*|[\d,]+\.\d\d)$/
const METADATA = /^metadata\.([^=]+)=(.*)$/is

function soughtIn(text: string): Sought {
  const pence = AMOUNT.test(text) ? penceIn(text) : undefined
  if (pence !== undefined) return { by: 'amount', pence }
  const [, name, value] = METADATA.exec(text) ?? []
  if (name !== undefined && value !== undefined) return { by: 'metadata', name, value }
  return { by: text.includes('@') ? 'email' : 'reference', text }
}

const scope = ({ status }: PaymentFilter): string =>
  `the newest ${inDigits(MOST_SEARCHED)} payments${status ? ` with the status ${status}` : ''}`

const references = (filter: PaymentFilter): string =>
  filter.status
    ? `A whole reference is looked for among all payments, a part of one among ${scope(filter)}.`
    : `A whole reference is looked for among all payments, the beginning of one among the newest ${inDigits(MOST_BEGINNINGS)}, and a part from its middle among the newest ${inDigits(MOST_SEARCHED)}.`

/** Where it was looked, for a search that does not look through all payments. */
export function scopeOf(filter: PaymentFilter): Html | false {
  const { sought, refunded } = filter
  if (!sought && !refunded) return false
  return ui.paragraph(
    sought?.by === 'reference' ? references(filter) : `These are found among ${scope(filter)}.`,
  )
}

/** No results: what was searched, and what the field understands. */
export const noMatch = ({ site }: AccountVisit, values: Filtered, filter: PaymentFilter): Html =>
  html`${ui.paragraph('There are no results for the filters you used.')}
${ui.paragraph(html`Searched: ${ui.joined(searched(values, filter))}. ${filter.sought?.by === 'reference' && references(filter)}`)}
${filter.sought && whatFieldUnderstands}
${ui.paragraph(html`${ui.link(`${site}/docs`, 'The API searches by more')}: name, card and agreement.`)}`

const whatFieldUnderstands = html`<p class="govuk-body">The field understands:</p>
<ul class="govuk-list govuk-list--bullet">
<li>an identifier of a payment, a refund, a message, a webhook or a request, in any case: it opens its page</li>
<li>a reference or a part of one, in any case</li>
<li>a part of an email address, with its ${ui.code('@')}</li>
<li>${ui.code('metadata.name=value')}, with the whole value</li>
<li>an amount in pounds: ${ui.code('£77.77')} or ${ui.code('77.77')}</li>
</ul>`

const searched = ({ status, from, to }: Filtered, filter: PaymentFilter): Part[] => [
  filter.sought && soughtText(filter.sought, scope(filter)),
  status && html`status ${ui.untrusted(status)}`,
  from && html`from ${ui.untrusted(from)}`,
  to && html`to ${ui.untrusted(to)}`,
  !filter.sought && 'the payments of the last 7 days',
]

function soughtText(sought: Sought, scope: string): Html {
  switch (sought.by) {
    case 'amount':
      return html`the amount ${inPounds(sought.pence)} among ${scope}`
    case 'metadata':
      return html`metadata ${ui.untrusted(sought.name)} with the value ${ui.untrusted(sought.value)} among ${scope}`
    case 'email':
      return html`email addresses and references with ${ui.untrusted(sought.text)} among ${scope}`
    case 'reference':
      return html`references with ${ui.untrusted(sought.text)}`
  }
}
