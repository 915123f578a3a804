import { inPounds } from '../../../core/money.ts'
import type { Database } from '../../../core/ports.ts'
import type { Context } from '../../../pay/context.ts'
import { paymentCommand } from '../../../pay/payments/first-payment.ts'
import {
  type Delivery,
  deliveriesOf,
  listPayments,
  MOST_SEARCHED,
} from '../../../pay/payments/list-store.ts'
import { type Payment, statuses, statusOf } from '../../../pay/payments/payment.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { button } from '../../../platform/web/components.ts'
import { input, select } from '../../../platform/web/form-components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { acceptedByHand } from '../../recorder/by-hand.ts'
import { type CursorPage, readPage } from '../frame/cursor.ts'
import { liveNotice, NEWEST, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, textsIn } from '../frame/page.ts'
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
import { cursorIn, linksBeside } from '../frame/query.ts'
import { pageRoute } from '../frame/route.ts'

const PAGE_SIZE = 50
const PAYMENT_ID = /^[0-9a-v]{26}$/

/** The list of payments. */
export const paymentsRoute = (context: Context): Route =>
  pageRoute(context, 'payments', visit => showPayments(context, visit))

type Asked = { q: string; status: string }

async function showPayments(context: Context, visit: AccountVisit) {
  const { account, now } = visit
  // An identifier opens its payment; anything else is a reference.
  const { q } = askedIn(visit)
  const id = q.toLowerCase()
  if (PAYMENT_ID.test(id) && (await findPayment(context.database, account.room, id, now)))
    return { to: `payments/${id}` }
  const shown = await readPayments(context, visit)
  return {
    title: 'Payments',
    section: 'payments' as const,
    content: html`<h1 class="govuk-heading-l">Payments</h1>
${paragraph(link(`${visit.root}payments/new`, 'Make a payment'))}
${search(visit, shown.asked)}
${found(visit, shown)}`,
  }
}

function askedIn(visit: AccountVisit): Asked {
  const { q, status } = textsIn(visit, ['q', 'status'])
  return { q: q.trim(), status }
}

type Shown = {
  asked: Asked
  /** Whether the text is a part of the references. */
  isPart: boolean
  page: CursorPage<Payment>
  deliveries: Map<string, Delivery[]>
}

async function readPayments({ database }: Context, visit: AccountVisit): Promise<Shown> {
  const { account, now } = visit
  const asked = askedIn(visit)
  const { room } = account
  const reference = asked.q || undefined
  // A whole reference is found by an index, among all payments.
  const [whole] =
    reference === undefined
      ? []
      : await listPayments(database, room, { reference }, { now, limit: 1, order: 'newest' })
  const isPart = reference !== undefined && whole === undefined
  const filter = {
    ...(isPart ? { part: reference } : { reference }),
    status: asked.status || undefined,
  }
  const page = await readPage(
    cursorIn(visit),
    PAGE_SIZE,
    (payment: Payment) => payment.payment_id,
    (at, options) => listPayments(database, room, { ...filter, ...at }, { now, ...options }),
  )
  return { asked, isPart, page, deliveries: await readDeliveries(database, page.items) }
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

const versionOfList = ({ page, deliveries }: Shown): string =>
  versionOf(
    page.items.map(({ payment_id, version }) => [
      payment_id,
      version,
      deliveries.get(payment_id)?.map(({ status, found }) => [status, found]),
    ]),
  )

export async function paymentsNews(context: Context, visit: AccountVisit): Promise<News> {
  const shown = await readPayments(context, visit)
  const { [NEWEST]: newest } = textsIn(visit, [NEWEST])
  const newer = shown.page.items.filter(({ payment_id }) => payment_id > newest).length
  return { version: versionOfList(shown), ...(shown.page.newer ? {} : { newer }) }
}

function found(visit: AccountVisit, shown: Shown): Html {
  const { asked, page, deliveries } = shown
  const isFiltered = asked.q !== '' || asked.status !== ''
  const [newest] = page.items
  const notice = liveNotice(visit, {
    list: 'payments',
    version: versionOfList(shown),
    newest: newest?.payment_id,
    href: `${visit.root}payments`,
    query: { ...asked, ...cursorIn(visit) },
  })
  return html`${notice}
${shown.isPart && newest !== undefined && paragraph(PARTS)}
${newest === undefined ? (isFiltered ? noMatch(visit) : none(visit)) : list(visit, page.items, deliveries)}
${linksBeside('Payments', page, `${visit.root}payments`, asked)}`
}

const search = ({ root }: AccountVisit, { q, status }: Asked): Html =>
  html`<form class="farthing-filter" method="get" action="${root}payments">
${input({ name: 'q', label: 'Reference or payment ID', value: q, type: 'search' })}
${select({
  name: 'status',
  label: 'Status',
  value: status,
  options: [
    { value: '', text: 'All' },
    ...statuses.filter(each => each !== 'submitted').map(each => ({ value: each, text: each })),
  ],
})}
${button({ id: 'search', text: 'Search', secondary: true })}
</form>`

const list = (
  visit: AccountVisit,
  payments: readonly Payment[],
  deliveries: Map<string, Delivery[]>,
): Html =>
  wideTable({
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
        link(`${visit.root}payments/${payment_id}`, untrusted(given.reference)),
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

const PARTS = `A part of a reference is looked for among the newest ${MOST_SEARCHED.toLocaleString('en-GB')} payments.`

const noMatch = ({ root }: AccountVisit): Html =>
  html`${paragraph('There are no results for the filters you used.')}
${paragraph(html`The field understands a payment’s identifier, and a reference or a part of one, in any case. ${PARTS} ${link(`${root}../docs`, 'The API searches by more')}: part of an email address or name, card, agreement and dates.`)}`

const none = ({ addresses }: AccountVisit): Html =>
  html`${paragraph(html`There are no payments in the last 7 days. To make one, set ${code('FARTHING_API_KEY')} to your key and run:`)}
${listing('Command to make a payment', paymentCommand(addresses.api))}
${paragraph('Requests with an unknown key are not shown: they are 401 and belong to no account.')}`
