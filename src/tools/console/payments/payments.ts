/** The list of payments, and what its one field understands. */

import { inPounds, penceIn } from '../../../core/money.ts'
import type { Database } from '../../../core/ports.ts'
import { type Payment, statuses, statusOf } from '../../../pay/payments/payment.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { findRefundOfAccount } from '../../../pay/refunds/store.ts'
import { findMessage } from '../../../pay/webhooks/message-store.ts'
import { findWebhook } from '../../../pay/webhooks/store.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import {
  countListed,
  findPayments,
  MOST_BEGINNINGS,
  MOST_SEARCHED,
  type PaymentFilter,
  type Sought,
} from '../../lists/find-payments-store.ts'
import { type Delivery, deliveriesOf } from '../../lists/payments-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { findExchange } from '../../record/store.ts'
import { definePage, type PageVisit } from '../frame/define-page.ts'
import {
  addressFrom,
  type CursorPage,
  filterForm,
  pageLinks,
  readPage,
  text,
} from '../frame/list.ts'
import { liveNotice } from '../frame/live.ts'
import type { AccountVisit } from '../frame/page.ts'
import {
  code,
  inDigits,
  link,
  listing,
  numeric,
  paragraph,
  statusTag,
  timeIn,
  untrusted,
  wideTable,
} from '../frame/parts.ts'
import { spanIn, TIME_RULE } from '../frame/times.ts'

const PAGE_SIZE = 50

const timeProblem = (value: string, now: number): string | undefined =>
  spanIn(value, now) ? undefined : TIME_RULE

const filters = {
  q: text('Reference, ID, email, amount or metadata', { type: 'search', isSlow: true }),
  status: text('Status', {
    options: statuses
      .filter(each => each !== 'submitted')
      .map(each => ({ value: each, text: each })),
  }),
  from: text('From (UTC)', { problem: timeProblem, width: 10 }),
  to: text('To (UTC)', { problem: timeProblem, width: 10 }),
}
type Visit = PageVisit<typeof filters>
type Filtered = Visit['filters']

const filterOf = ({ q, status, from, to }: Filtered, now: number): PaymentFilter => ({
  status: status || undefined,
  from: spanIn(from, now)?.begin,
  until: spanIn(to, now)?.end,
  sought: q === '' ? undefined : soughtIn(q),
})

export const payments = definePage({
  path: 'payments',
  navigation: 'Payments',
  title: ({ filters: { q, status, from, to } }) =>
    ['Payments', q, status, from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(', '),
  filters,
  instead: pageOfId,
  read,
  show: (visit, data) => html`<h1 class="govuk-heading-l">Payments</h1>
${!visit.hasEnded && paragraph(link(`${visit.root}payments/new`, 'Make a payment'))}
${filterForm(visit, {}, { id: 'search', text: 'Search' })}
${data && listPart(visit, data)}`,
  live: true,
  entries: data => data?.page.items.map(({ payment_id }) => payment_id) ?? [],
})

/** The list; undefined where a filter cannot be read. */
async function read({ database }: ToolContext, visit: Visit): Promise<Data | undefined> {
  const { account, now, filters, errors, cursor } = visit
  if (Object.keys(errors).length > 0) return undefined
  const filter = filterOf(filters, now)
  const options = { room: account.room, now, filter }
  const page = await readPage(
    cursor,
    PAGE_SIZE,
    (payment: Payment) => payment.payment_id,
    (range, part) => findPayments(database, options, range, part),
  )
  return {
    filter,
    page,
    place: await placeOf(database, options, page),
    deliveries: await readDeliveries(database, page.items),
  }
}

type Data = {
  filter: PaymentFilter
  page: CursorPage<Payment>
  /** "1 to 50 of 5,037 payments"; undefined where counting would take as long as the search. */
  place: string | undefined
  deliveries: Map<string, Delivery[]>
}

/** Characters of an identifier. */
const ID = /^[0-9a-v]{26}$/

/** The page of what has this identifier; undefined if the account has no such thing. */
async function pageOfId(
  { database }: ToolContext,
  { account: { room }, now, filters }: Visit,
): Promise<string | undefined> {
  const id = filters.q.toLowerCase()
  if (!ID.test(id)) return undefined
  if (await findPayment(database, room, id, now)) return `payments/${id}`
  const [refund, message, webhook, exchange] = await Promise.all([
    findRefundOfAccount(database, room, id),
    findMessage(database, room, id),
    findWebhook(database, room, id),
    findExchange(database, room, id),
  ])
  if (refund) return `payments/${refund.payment_id}`
  if (message) return `messages/${id}`
  if (webhook) return `webhooks/${id}`
  return exchange && `requests/${id}`
}

/** Payments that are counted. */
const MOST_COUNTED = 10_000

async function placeOf(
  database: Database,
  options: Parameters<typeof countListed>[1],
  { items, newer, older }: CursorPage<Payment>,
): Promise<string | undefined> {
  const [first] = items
  if (!first) return undefined
  const all = (count: number) =>
    count > MOST_COUNTED
      ? `more than ${inDigits(MOST_COUNTED)} payments`
      : `${inDigits(count)} ${count === 1 ? 'payment' : 'payments'}`
  if (!newer && !older) return all(items.length)
  if (options.filter.sought) return undefined
  const [total, before] = await Promise.all([
    countListed(database, options, {}, MOST_COUNTED + 1),
    newer ? countListed(database, options, { after: first.payment_id }, MOST_COUNTED + 1) : 0,
  ])
  if (before > MOST_COUNTED) return all(total)
  return `${inDigits(before + 1)} to ${inDigits(before + items.length)} of ${all(total)}`
}

async function readDeliveries(
  database: Database,
  payments: readonly Payment[],
): Promise<Map<string, Delivery[]>> {
  const found = await deliveriesOf(database, payments)
  const failed = [...found].flatMap(([payment_id, each]) =>
    each.some(({ status }) => status === 'FAILED') ? [payment_id] : [],
  )
  const accepted = await acceptedByHand(database, failed)
  return accepted.size > 0 ? deliveriesOf(database, payments, [...accepted.keys()]) : found
}

function listPart(visit: Visit, { filter, page, place, deliveries }: Data): Html {
  const { filters } = visit
  if (page.items.length === 0)
    return html`${liveNotice(visit)}\n${Object.values(filters).some(Boolean) ? noMatch(visit, filters, filter) : none(visit)}`
  return html`${liveNotice(visit)}
${place !== undefined && paragraph(place)}
${scopeOf(filter)}
${table(visit, page.items, deliveries)}
${pageLinks(visit, 'Payments', page)}`
}

const table = (
  visit: Visit,
  payments: readonly Payment[],
  deliveries: Map<string, Delivery[]>,
): Html =>
  wideTable({
    caption: 'Payments, newest first',
    columns: ['Reference', numeric('Amount'), 'Status', 'Webhooks', 'Card brand', 'Date created'],
    rows: payments.map(payment => {
      const { payment_id, given, card } = payment
      return [
        link(addressFrom(visit, `${visit.root}payments/${payment_id}`), untrusted(given.reference)),
        inPounds(given.amount),
        statusTag(statusOf(payment)),
        webhooks(visit, deliveries.get(payment_id) ?? []),
        card?.card_brand ?? '',
        timeIn(payment_id),
      ]
    }),
  })

/** A failure leads to its message, which says why. */
function webhooks({ root }: AccountVisit, deliveries: readonly Delivery[]): Part {
  if (deliveries.length === 0) return 'none'
  const texts = {
    FAILED: 'failed',
    'sent again': 'failed, then sent again and accepted',
    PENDING: 'pending',
    SUCCESSFUL: 'delivered',
    'not listening': 'not listening',
  } as const
  const parts = (
    ['FAILED', 'sent again', 'PENDING', 'SUCCESSFUL', 'not listening'] as const
  ).flatMap(status => {
    const delivery = deliveries.find(each => each.status === status)
    if (!delivery) return []
    const text = `${delivery.found} ${texts[status]}`
    if (status !== 'FAILED' && status !== 'sent again') return [text]
    return [
      html`<a class="govuk-link${status === 'FAILED' && ' farthing-failed'}" href="${root}messages/${delivery.message_id}">${text}</a>`,
    ]
  })
  return parts.map((part, i) => (i === 0 ? part : html`, ${part}`))
}

const none = ({ addresses, hasEnded }: AccountVisit): Html =>
  hasEnded
    ? paragraph('There are no payments in the last 7 days.')
    : html`${paragraph(html`There are no payments in the last 7 days. Make one here, or set ${code('FARTHING_API_KEY')} to your key and run:`)}
${listing('Command to make a payment', paymentCommand(addresses.api))}
${paragraph('Requests with an unknown key are not shown: they are 401 and belong to no account.')}`

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
function scopeOf(filter: PaymentFilter): Html | false {
  const { sought } = filter
  if (!sought) return false
  return paragraph(
    sought.by === 'reference' ? references(filter) : `These are found among ${scope(filter)}.`,
  )
}

/** No results: what was searched, and what the field understands. */
const noMatch = ({ site }: AccountVisit, filters: Filtered, filter: PaymentFilter): Html =>
  html`${paragraph('There are no results for the filters you used.')}
${paragraph(html`Searched: ${searched(filters, filter).map((part, i) => html`${i > 0 && ', '}${part}`)}. ${filter.sought?.by === 'reference' && references(filter)}`)}
<p class="govuk-body">The field understands:</p>
<ul class="govuk-list govuk-list--bullet">
<li>an identifier of a payment, a refund, a message, a webhook or a request, in any case: it opens its page</li>
<li>a reference or a part of one, in any case</li>
<li>a part of an email address, with its ${code('@')}</li>
<li>${code('metadata.name=value')}, with the whole value</li>
<li>an amount in pounds: ${code('£77.77')} or ${code('77.77')}</li>
</ul>
${paragraph(html`${link(`${site}/docs`, 'The API searches by more')}: name, card and agreement.`)}`

function searched({ status, from, to }: Filtered, filter: PaymentFilter): Html[] {
  const { sought } = filter
  return [
    ...(sought ? [soughtText(sought, scope(filter))] : []),
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

export const firstPayment = {
  amount: 1450,
  reference: 'FIRST-1',
  description: 'My first payment',
  return_url: 'https://example.org/paid',
}

/** The curl command for a first payment. `authorization` is the header, as a word of the shell. */
export function paymentCommand(
  site: string,
  authorization = '"Authorization: Bearer $FARTHING_API_KEY"',
): string {
  const body = JSON.stringify(firstPayment)
  return `curl -sS ${site}/v1/payments -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`
}
