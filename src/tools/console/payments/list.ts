import { inPounds } from '../../../core/money.ts'
import type { Database } from '../../../core/ports.ts'
import { type Payment, statusOf } from '../../../pay/payments/payment.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { findRefundOfAccount } from '../../../pay/refunds/store.ts'
import { findMessage } from '../../../pay/webhooks/message-store.ts'
import { findWebhook } from '../../../pay/webhooks/store.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { countListed, findPayments } from '../../lists/find-payments-store.ts'
import { type Delivery, deliveriesOf } from '../../lists/payments-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { findExchange } from '../../record/store.ts'
import { type CursorPage, readPage } from '../frame/cursor.ts'
import { liveNotice, NEWEST, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, type Next, type Page, textsIn } from '../frame/page.ts'
import {
  code,
  link,
  listing,
  paragraph,
  statusTag,
  timeIn,
  untrusted,
  wideTable,
} from '../frame/parts.ts'
import { addressFrom, cursorIn, linksBeside } from '../frame/query.ts'
import { pageRoute } from '../frame/route.ts'
import { type Filters, type Find, findForm, findIn, noMatch, scopeOf } from './find.ts'
import { paymentCommand } from './first-payment.ts'

const PAGE_SIZE = 50

/** The list of payments. */
export const paymentsRoute = (context: ToolContext): Route =>
  pageRoute(context, 'payments', visit => showPayments(context, visit))

/** Characters of an identifier. */
const ID = /^[0-9a-v]{26}$/

async function showPayments(context: ToolContext, visit: AccountVisit): Promise<Next | Page> {
  const find = findIn(visit)
  const page = await pageOfId(context, visit, find.asked.q.toLowerCase())
  if (page !== undefined) return { to: page }
  const isWrong = Object.keys(find.errors).length > 0
  const content = html`<h1 class="govuk-heading-l">Payments</h1>
${!visit.hasEnded && paragraph(link(`${visit.root}payments/new`, 'Make a payment'))}
${findForm(visit, find)}
${!isWrong && found(visit, await readPayments(context, visit, find))}`
  return {
    title: titleOf(find.asked),
    section: 'payments',
    content,
    ...(isWrong && { errors: find.errors as Record<string, string> }),
  }
}

const titleOf = ({ q, status, from, to }: Filters): string =>
  ['Payments', q, status, from && `from ${from}`, to && `to ${to}`]
    .filter(part => part !== '')
    .join(', ')

/** The page of what has this identifier; undefined if the account has no such thing. */
async function pageOfId(
  { database }: ToolContext,
  { account: { room }, now }: AccountVisit,
  id: string,
): Promise<string | undefined> {
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

type ShownPayments = {
  find: Find
  page: CursorPage<Payment>
  /** "1 to 50 of 5,037 payments"; undefined where counting would take as long as the search. */
  place: string | undefined
  deliveries: Map<string, Delivery[]>
}

async function readPayments(
  { database }: ToolContext,
  visit: AccountVisit,
  find: Find,
): Promise<ShownPayments> {
  const { account, now } = visit
  const asked = { room: account.room, now, filter: find.filter }
  const page = await readPage(
    cursorIn(visit),
    PAGE_SIZE,
    (payment: Payment) => payment.payment_id,
    (at, { limit, order }) => findPayments(database, asked, at, { limit, order }),
  )
  return {
    find,
    page,
    place: await placeOf(database, asked, page),
    deliveries: await readDeliveries(database, page.items),
  }
}

/** Payments that are counted. */
const MOST_COUNTED = 10_000

async function placeOf(
  database: Database,
  asked: Parameters<typeof countListed>[1],
  { items, newer, older }: CursorPage<Payment>,
): Promise<string | undefined> {
  const [first] = items
  if (!first) return undefined
  const all = (count: number) =>
    count > MOST_COUNTED
      ? `more than ${inDigits(MOST_COUNTED)} payments`
      : `${inDigits(count)} ${count === 1 ? 'payment' : 'payments'}`
  if (!newer && !older) return all(items.length)
  if (asked.filter.sought) return undefined
  const [total, before] = await Promise.all([
    countListed(database, asked, {}, MOST_COUNTED + 1),
    newer ? countListed(database, asked, { after: first.payment_id }, MOST_COUNTED + 1) : 0,
  ])
  if (before > MOST_COUNTED) return all(total)
  return `${inDigits(before + 1)} to ${inDigits(before + items.length)} of ${all(total)}`
}

const inDigits = (count: number): string => count.toLocaleString('en-GB')

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

const versionOfList = ({ page, deliveries }: ShownPayments): string =>
  versionOf(
    page.items.map(({ payment_id, version }) => [
      payment_id,
      version,
      deliveries.get(payment_id)?.map(({ status, found }) => [status, found]),
    ]),
  )

export async function paymentsNews(context: ToolContext, visit: AccountVisit): Promise<News> {
  const shown = await readPayments(context, visit, findIn(visit))
  const { [NEWEST]: newest } = textsIn(visit, [NEWEST])
  const newer = shown.page.items.filter(({ payment_id }) => payment_id > newest).length
  return { version: versionOfList(shown), ...(shown.page.newer ? {} : { newer }) }
}

function found(visit: AccountVisit, shown: ShownPayments): Html {
  const { find, page, place, deliveries } = shown
  const [newest] = page.items
  const notice = liveNotice(visit, {
    list: 'payments',
    version: versionOfList(shown),
    newest: newest?.payment_id,
    href: `${visit.root}payments`,
    query: { ...find.asked, ...cursorIn(visit) },
  })
  if (newest === undefined)
    return html`${notice}\n${find.isFiltered ? noMatch(visit, find) : none(visit)}`
  return html`${notice}
${place !== undefined && paragraph(place)}
${scopeOf(find)}
${list(visit, page.items, deliveries)}
${linksBeside('Payments', page, `${visit.root}payments`, find.asked)}`
}

const list = (
  visit: AccountVisit,
  payments: readonly Payment[],
  deliveries: Map<string, Delivery[]>,
): Html => {
  const { asked } = findIn(visit)
  return wideTable({
    caption: 'Payments, newest first',
    hidesCaption: true,
    columns: [
      { text: 'Reference' },
      { text: 'Amount', numeric: true },
      { text: 'Status' },
      { text: 'Webhooks' },
      { text: 'Card brand' },
      { text: 'Date created' },
    ],
    rows: payments.map(payment => {
      const { payment_id, given, card } = payment
      return [
        link(
          addressFrom(`${visit.root}payments/${payment_id}`, asked, cursorIn(visit)),
          untrusted(given.reference),
        ),
        inPounds(given.amount),
        statusTag(statusOf(payment)),
        webhooks(visit, deliveries.get(payment_id) ?? []),
        card?.card_brand ?? '',
        timeIn(payment_id),
      ]
    }),
  })
}

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
