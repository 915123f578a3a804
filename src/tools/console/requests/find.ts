/** The filters of the list of requests. */

import type { Database } from '../../../core/ports.ts'
import { MINUTE } from '../../../core/time.ts'
import type { Part } from '../../../platform/database/select.ts'
import type { Endpoint } from '../../../platform/http/endpoint.ts'
import { WITHOUT_ENDPOINT } from '../../../platform/http/without-endpoint.ts'
import { button } from '../../../platform/web/components.ts'
import { input, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Exchange } from '../../record/exchange.ts'
import { type ExchangeFilter, findExchanges } from '../../record/store.ts'
import { findWithText } from '../../record/text-store.ts'
import { type AccountVisit, textsIn } from '../frame/page.ts'
import { hidden, link, paragraph, untrusted } from '../frame/parts.ts'
import { choiceIn } from '../frame/query.ts'

/** What the list shows. Attempts are on the pages of their messages. */
export const KINDS = ['api', 'page'] as const

/** A group of refusals without a code or a field. */
export const NONE = '-'

const shows = {
  refused: 'Refused (4xx and 5xx)',
  '2xx': '2xx',
  '4xx': '4xx',
  '5xx': '5xx',
  'in-production': 'Different in production',
}
type Show = keyof typeof shows

const LAST_MINUTES = '5'

/** The query of the page; '' for what is not asked. `code` and `field` are those of a group of refusals. */
export type Filters = {
  show: Show | ''
  operation: string
  payment: string
  text: string
  last: typeof LAST_MINUTES | ''
  code: string
  field: string
}

export function askedIn(visit: AccountVisit): Filters {
  const { payment, text, ...rest } = textsIn(visit, [
    'operation',
    'payment',
    'text',
    'code',
    'field',
  ])
  return {
    show: choiceIn(visit, 'show', Object.keys(shows) as Show[]) ?? '',
    last: choiceIn(visit, 'last', [LAST_MINUTES]) ?? '',
    ...rest,
    payment: payment.trim(),
    text: text.trim(),
  }
}

export const isFilter = (asked: Filters): boolean =>
  Object.values(asked).some(value => value !== '')

const ID = /^[0-9a-v]{26}$/i

/** `wall` is the machine's time. */
export function filterOf(
  { show, operation, payment, text, last, code, field }: Filters,
  wall: number,
): ExchangeFilter & { text?: string } {
  const orNone = (value: string) => (value === NONE ? null : value)
  return {
    kinds: KINDS,
    ...(['refused', '4xx', '5xx'].includes(show) && { refused: true }),
    ...(show === 'in-production' && { broken: true }),
    ...(show === '2xx' && { class: 2 }),
    ...(show === '4xx' && { class: 4 }),
    ...(show === '5xx' && { class: 5 }),
    ...(operation && { operation }),
    ...(payment &&
      (ID.test(payment) ? { payment_id: payment.toLowerCase() } : { reference: payment })),
    ...(text && { text }),
    ...(last && { recordedSince: wall - Number(last) * MINUTE }),
    ...(code && { code: orNone(code) }),
    ...(field && { field: orNone(field) }),
  }
}

export const findRequests = (
  database: Database,
  room: string,
  { text, ...filter }: ExchangeFilter & { text?: string },
  part: Part,
): Promise<Exchange[]> =>
  text === undefined
    ? findExchanges(database, room, filter, part)
    : findWithText(database, room, { ...filter, text }, part)

/** What each operation does, in words, by its operationId. */
export type Operations = Map<string, string>

export const operationsOf = (endpoints: readonly Endpoint[]): Operations =>
  new Map([
    ...endpoints.map(({ operationId, summary }): [string, string] => [operationId, summary]),
    ...WITHOUT_ENDPOINT.map(({ operation, summary }): [string, string] => [operation, summary]),
  ])

export function headingOf({ show, code, field }: Filters): string {
  if (show === '') return 'All requests'
  if (show === 'in-production') return 'Requests that would differ in production'
  if (show !== 'refused') return `Requests with ${show}`
  const parts = [code !== NONE && code, field !== NONE && field && `in ${field}`].filter(Boolean)
  return ['Refused requests', ...parts].join(' ')
}

export const titleOf = (asked: Filters, operations: Operations): string =>
  [
    'Requests',
    asked.show,
    operations.get(asked.operation) ?? asked.operation,
    asked.code === NONE ? '' : asked.code,
    asked.field === NONE ? '' : asked.field,
    asked.payment,
    asked.text,
    asked.last && `last ${asked.last} minutes`,
  ]
    .filter(part => part !== '')
    .join(', ')

export const filterForm = (
  asked: Filters,
  operations: Operations,
): Html => html`<form method="get" action="requests" class="farthing-filter">
${select({
  name: 'show',
  label: 'Status',
  options: [
    { value: '', text: 'All' },
    ...Object.entries(shows).map(([value, text]) => ({ value, text })),
  ],
  value: asked.show,
})}
${select({
  name: 'operation',
  label: 'Operation',
  options: [
    { value: '', text: 'All' },
    ...[...operations].map(([value, text]) => ({ value, text })),
  ],
  value: asked.operation,
})}
${input({ name: 'payment', label: 'Payment: ID or whole reference', value: asked.payment })}
${input({ name: 'text', label: 'Text in the address or a body', value: asked.text, type: 'search' })}
${select({
  name: 'last',
  label: 'When',
  options: [
    { value: '', text: 'The last 24 hours' },
    { value: LAST_MINUTES, text: `The last ${LAST_MINUTES} minutes` },
  ],
  value: asked.last,
})}
${asked.code && hidden('code', asked.code)}
${asked.field && hidden('field', asked.field)}
${button({ id: 'filter', text: 'Filter', secondary: true })}
</form>
${paragraph(isFilter(asked) ? link('requests', 'Show all requests') : link('requests?show=refused', 'Only refused'))}`

/** No results: what was searched, and what the fields understand. */
export const noMatch = (asked: Filters, operations: Operations): Html =>
  html`${paragraph('There are no results for the filters you used.')}
${paragraph(html`Searched: ${searched(asked, operations).map((part, i) => html`${i > 0 && ', '}${part}`)}, among the requests that are kept: those of the last 24 hours, at most 10,000 of an account (1,000 of a test account).`)}
${paragraph('The field for the payment understands an identifier, and a whole reference in any case. The field for a text understands any part of an address or of a body as it was sent, in any case; of long bodies the first 8 KiB are kept.')}`

function searched(
  { show, operation, payment, text, last, code, field }: Filters,
  operations: Operations,
): Html[] {
  return [
    show !== '' && html`${shows[show]}`,
    operation !== '' && untrusted(operations.get(operation) ?? operation),
    code !== '' && code !== NONE && untrusted(code),
    field !== '' && field !== NONE && html`about ${untrusted(field)}`,
    payment !== '' && html`of the payment ${untrusted(payment)}`,
    text !== '' && html`with the text ${untrusted(text)}`,
    last !== '' && html`the last ${last} minutes`,
  ].filter(part => part !== false)
}
