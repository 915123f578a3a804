import { MESSAGES_COUNTED } from '../../../core/budgets.ts'
import { timeOf } from '../../../core/ids.ts'
import { inDigits, inPounds, penceIn } from '../../../core/money.ts'
import type { Database } from '../../../core/ports.ts'
import { type Payment, statuses, statusOf } from '../../../pay/payments/payment.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { findRefundOfAccount } from '../../../pay/refunds/store.ts'
import { daysKept } from '../../../pay/retention.ts'
import { findMessage } from '../../../pay/webhooks/message-store.ts'
import { findWebhook } from '../../../pay/webhooks/store.ts'
import { buttonLink } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import {
  countListed,
  findPayments,
  MOST_BEGINNINGS,
  MOST_SEARCHED,
  type PaymentFilter,
  type Sought,
} from '../../lists/find-payments-store.ts'
import { type Delivery, deliveriesOf } from '../../lists/payments-store.ts'
import { findExchange } from '../../record/store.ts'
import { definePage } from '../frame/define-page.ts'
import {
  addressFrom,
  type CursorPage,
  dayFilter,
  type Filters,
  filterForm,
  isFiltered,
  isId,
  oneOf,
  type PageVisit,
  pageLinks,
  readPage,
  spanIn,
} from '../frame/list.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, pageAddress } from '../frame/visit.ts'

const REFUNDED = 'refunded'

const filters = {
  q: { label: 'Reference, ID, email, amount or metadata', type: 'search', isSlow: true },
  status: oneOf('Status', [...statuses, REFUNDED], {
    nameOf: status => (status === REFUNDED ? 'refunded, wholly or partly' : status),
  }),
  from: dayFilter('From (UTC)'),
  to: dayFilter('To (UTC)'),
} satisfies Filters
type Visit = PageVisit<typeof filters>
type Filtered = Visit['values']

const filterOf = ({ q, status, from, to }: Filtered, now: number): PaymentFilter => ({
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

/** Says which payments were searched, if a search does not look through all of them. */
function scopeOf(filter: PaymentFilter): Html | false {
  const { sought, refunded } = filter
  if (!sought && !refunded) return false
  return ui.paragraph(
    sought?.by === 'reference' ? references(filter) : `These are found among ${scope(filter)}.`,
  )
}

/** The text for a list without results: the search, and the values that the field understands. */
const noMatch = (visit: Visit, filter: PaymentFilter): Html =>
  html`${ui.paragraph('There are no results for the filters you used.')}
${ui.paragraph(html`Searched: ${ui.joined(searched(visit, filter))}. ${filter.sought?.by === 'reference' && references(filter)}`)}
${filter.sought && whatFieldUnderstands}
${ui.paragraph(html`${ui.link(`${visit.site}/docs`, 'The API searches by more')}: name, card and agreement.`)}`

const whatFieldUnderstands = html`<p class="govuk-body">The field understands:</p>
<ul class="govuk-list govuk-list--bullet">
<li>an identifier of a payment, a refund, a message, a webhook or a request, in any case: it opens its page</li>
<li>a reference or a part of one, in any case</li>
<li>a part of an email address, with its ${ui.code('@')}</li>
<li>${ui.code('metadata.name=value')}, with the whole value</li>
<li>an amount in pounds: ${ui.code('£77.77')} or ${ui.code('77.77')}</li>
</ul>`

const searched = (
  { account, values: { status, from, to } }: Visit,
  filter: PaymentFilter,
): Part[] => [
  filter.sought && soughtText(filter.sought, scope(filter)),
  status && html`status ${ui.untrusted(status)}`,
  from && html`from ${ui.untrusted(from)}`,
  to && html`to ${ui.untrusted(to)}`,
  !filter.sought && `the payments of the last ${daysKept(account.behaviour)} days`,
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

export const payments = definePage({
  path: 'payments',
  navigation: 'Payments',
  title: ({ values: { q, status, from, to } }) =>
    ['Payments', q, status, from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(', '),
  filters,
  instead: pageOfId,
  read,
  show: (visit, data) =>
    html`${!visit.hasEnded && buttonLink('make-payment', 'Make a payment', `${visit.root}payments/new`)}
${filterForm(visit, {}, { id: 'search', text: 'Search' })}
${ui.paragraph(daysOf(visit))}
${data && listPart(visit, data)}`,
  live: true,
  entries: data => data?.page.ids ?? [],
})

const daysOf = ({ here, values, account }: Visit): Html => {
  const all = `Last ${daysKept(account.behaviour)} days`
  const days = { Today: 'today', Yesterday: 'yesterday', [all]: '' }
  const links = Object.entries(days).map(([text, day]) =>
    ui.link(pageAddress(here, { ...values, from: day, to: day }), text),
  )
  return ui.joined(links, ' · ')
}

async function read(visit: Visit) {
  const { context, account, now, values, errors, cursor } = visit
  const { database } = context
  if (Object.keys(errors).length > 0) return undefined
  const filter = filterOf(values, now)
  const options = { account, now, filter }
  const page = await readPage<Payment>(cursor, 'payment_id', (range, part) =>
    findPayments(database, options, range, part),
  )
  const place = await placeOf(database, options, page)
  return { filter, page, place, deliveries: await deliveriesOf(database, page.items) }
}

type Data = NonNullable<Awaited<ReturnType<typeof read>>>

/** The page of the thing whose identifier was searched for; undefined if the account has no such thing. */
async function pageOfId({ context, account, now, values }: Visit): Promise<string | undefined> {
  const { database } = context
  const { room } = account
  const id = values.q.toLowerCase()
  if (!isId(id)) return undefined
  if (await findPayment(database, account, id, now)) return `payments/${id}`
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

const MOST_COUNTED = 10_000

/** "1 to 50 of 5,037 payments"; undefined where counting would take as long as the search. */
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
      : ui.counted(count, 'payment')
  if (!newer && !older) return all(items.length)
  if (options.filter.sought || options.filter.refunded) return undefined
  const [total, before] = await Promise.all([
    countListed(database, options, {}, MOST_COUNTED + 1),
    newer ? countListed(database, options, { after: first.payment_id }, MOST_COUNTED + 1) : 0,
  ])
  if (before > MOST_COUNTED) return all(total)
  return `${inDigits(before + 1)} to ${inDigits(before + items.length)} of ${all(total)}`
}

function listPart(visit: Visit, { filter, page, place, deliveries }: Data): Html {
  if (page.items.length === 0)
    return isFiltered(visit)
      ? noMatch(visit, filter)
      : ui.emptyState(
          visit,
          `There are no payments in the last ${daysKept(visit.account.behaviour)} days`,
          'make one',
          'payments/new',
        )
  return html`${place !== undefined && ui.paragraph(place)}
${scopeOf(filter)}
${paymentTable({
  caption: 'Payments, newest first',
  payments: page.items,
  addressOf: ({ payment_id }) => addressFrom(visit, `${visit.root}payments/${payment_id}`),
  more: {
    Webhooks: ({ payment_id }) => webhooks(visit, deliveries.get(payment_id) ?? []),
    'Card brand': ({ card }) => card?.card_brand ?? '',
  },
})}
${pageLinks(visit, 'Payments', page)}`
}

type PaymentTable = {
  caption: string
  payments: readonly Payment[]
  addressOf: (payment: Payment) => string
  more: ui.Columns<Payment>
}

export const paymentTable = ({ caption, payments, addressOf, more }: PaymentTable): Html =>
  ui.wideTable(payments, {
    caption,
    at: ({ payment_id }) => timeOf(payment_id),
    columns: {
      Reference: payment => ui.link(addressOf(payment), ui.untrusted(payment.given.reference)),
      Amount: { cell: ({ given }) => inPounds(given.amount), numeric: true, leads: true },
      Status: ui.leading(
        payment => html`${ui.statusTag(statusOf(payment))} ${ui.refundedText(payment)}`,
      ),
      ...more,
      Created: ({ payment_id }) => ui.timeOfDay(timeOf(payment_id)),
    },
  })

/** The deliveries of a payment by status. A failure leads to its message, whose page says why it failed. */
function webhooks({ root }: AccountVisit, deliveries: readonly Delivery[]): Part {
  if (deliveries.length === 0) return 'none'
  const parts = [...ui.deliveryNames].flatMap(([status, name]) =>
    deliveries
      .filter(delivery => delivery.status === status)
      .map(({ found, message_id }) => {
        const text = `${found} ${name}`
        if (status !== 'FAILED' && status !== 'sent again') return text
        return html`<a class="govuk-link${status === 'FAILED' && ' farthing-failed'}" href="${root}messages/${message_id}">${text}</a>`
      }),
  )
  const found = deliveries.reduce((sum, delivery) => sum + delivery.found, 0)
  return ui.joined(found > MESSAGES_COUNTED ? [...parts, 'and more'] : parts)
}
