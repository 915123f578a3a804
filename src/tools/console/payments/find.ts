/** The form above the list of payments: what its one field understands, and its filters. */
import { inPounds, penceIn } from '../../../core/money.ts'
import { statuses } from '../../../pay/payments/payment.ts'
import { button } from '../../../platform/web/components.ts'
import { input, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import {
  MOST_BEGINNINGS,
  MOST_SEARCHED,
  type PaymentFilter,
  type Sought,
} from '../../lists/find-payments-store.ts'
import { type AccountVisit, textsIn } from '../frame/page.ts'
import { code, link, paragraph, untrusted } from '../frame/parts.ts'
import { spanIn, TIME_RULE } from '../frame/times.ts'

const FIELDS = ['q', 'status', 'from', 'to'] as const
export type Filters = Record<(typeof FIELDS)[number], string>

export type Find = {
  asked: Filters
  filter: PaymentFilter
  errors: { from?: string; to?: string }
  isFiltered: boolean
}

export function findIn(visit: AccountVisit): Find {
  const given = textsIn(visit, FIELDS)
  const asked = { ...given, q: given.q.trim(), from: given.from.trim(), to: given.to.trim() }
  const from = asked.from === '' ? undefined : spanIn(asked.from, visit.now)
  const to = asked.to === '' ? undefined : spanIn(asked.to, visit.now)
  return {
    asked,
    filter: {
      status: asked.status || undefined,
      from: from?.begin,
      until: to?.end,
      sought: asked.q === '' ? undefined : soughtIn(asked.q),
    },
    errors: {
      ...(asked.from !== '' && !from && { from: TIME_RULE }),
      ...(asked.to !== '' && !to && { to: TIME_RULE }),
    },
    isFiltered: Object.values(asked).some(value => value !== ''),
  }
}

/** Digits alone are part of a reference; with a pound sign or two decimals they are an amount. */
const AMOUNT = /^(£.*|[\d,]+\.\d\d)$/
const METADATA = /^metadata\.([^=]+)=(.*)$/is

export function soughtIn(text: string): Sought {
  const pence = AMOUNT.test(text) ? penceIn(text) : undefined
  if (pence !== undefined) return { by: 'amount', pence }
  const [, name, value] = METADATA.exec(text) ?? []
  if (name !== undefined && value !== undefined) return { by: 'metadata', name, value }
  return { by: text.includes('@') ? 'email' : 'reference', text }
}

export const findForm = ({ root }: AccountVisit, { asked, errors }: Find): Html =>
  html`<form class="farthing-filter" method="get" action="${root}payments">
${input({ name: 'q', label: 'Reference, ID, email, amount or metadata', value: asked.q, type: 'search' })}
${select({
  name: 'status',
  label: 'Status',
  value: asked.status,
  options: [
    { value: '', text: 'All' },
    ...statuses.filter(each => each !== 'submitted').map(each => ({ value: each, text: each })),
  ],
})}
${input({ name: 'from', label: 'From (UTC)', value: asked.from, error: errors.from, width: 10 })}
${input({ name: 'to', label: 'To (UTC)', value: asked.to, error: errors.to, width: 10 })}
${button({ id: 'search', text: 'Search', secondary: true })}
</form>`

const inDigits = (count: number): string => count.toLocaleString('en-GB')

const scope = ({ filter: { status } }: Find): string =>
  `the newest ${inDigits(MOST_SEARCHED)} payments${status ? ` with the status ${status}` : ''}`

const references = (find: Find): string =>
  find.filter.status
    ? `A whole reference is looked for among all payments, a part of one among ${scope(find)}.`
    : `A whole reference is looked for among all payments, the beginning of one among the newest ${inDigits(MOST_BEGINNINGS)}, and a part from its middle among the newest ${inDigits(MOST_SEARCHED)}.`

/** Where it was looked, for a search that does not look through all payments. */
export function scopeOf(find: Find): Html | false {
  const { sought } = find.filter
  if (!sought) return false
  return paragraph(
    sought.by === 'reference' ? references(find) : `These are found among ${scope(find)}.`,
  )
}

/** No results: what was searched, and what the field understands. */
export const noMatch = ({ site }: AccountVisit, find: Find): Html =>
  html`${paragraph('There are no results for the filters you used.')}
${paragraph(html`Searched: ${searched(find).map((part, i) => html`${i > 0 && ', '}${part}`)}. ${find.filter.sought?.by === 'reference' && references(find)}`)}
<p class="govuk-body">The field understands:</p>
<ul class="govuk-list govuk-list--bullet">
<li>an identifier of a payment, a refund, a message, a webhook or a request, in any case: it opens its page</li>
<li>a reference or a part of one, in any case</li>
<li>a part of an email address, with its ${code('@')}</li>
<li>${code('metadata.name=value')}, with the whole value</li>
<li>an amount in pounds: ${code('£77.77')} or ${code('77.77')}</li>
</ul>
${paragraph(html`${link(`${site}/docs`, 'The API searches by more')}: name, card and agreement.`)}`

function searched(find: Find): Html[] {
  const { status, from, to } = find.asked
  const { sought } = find.filter
  return [
    ...(sought ? [soughtText(sought, scope(find))] : []),
    ...(status ? [html`status ${untrusted(status)}`] : []),
    ...(from ? [html`from ${untrusted(from)}`] : []),
    ...(to ? [html`to ${untrusted(to)}`] : []),
    ...(sought ? [] : ['the payments of the last 7 days']),
  ].map(part => html`${part}`)
}

function soughtText(sought: Sought, scope: string): Html {
  switch (sought.by) {
    case 'amount':
      return html`the amount ${inPounds(sought.pence)} among ${scope}`
    case 'metadata':
      return html`metadata ${untrusted(sought.name)} with the value ${untrusted(sought.value)} among ${scope}`
    case 'email':
      return html`email addresses and references with ${untrusted(sought.text)} among ${scope}`
    case 'reference':
      return html`references with ${untrusted(sought.text)}`
  }
}
