import { timeOf } from '../../../core/ids.ts'
import { inPounds } from '../../../core/money.ts'
import type { Context } from '../../../pay/context.ts'
import { type Payment, stateOf } from '../../../pay/payments/payment.ts'
import { present } from '../../../pay/payments/response.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { refundsOf } from '../../../pay/refunds/store.ts'
import { messagesOfPayment, newestWebhooks } from '../../../pay/webhooks/list-store.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { details, type SummaryRow, summaryList } from '../../../platform/web/components.ts'
import { html } from '../../../platform/web/html.ts'
import { MASK } from '../../recorder/mask.ts'
import { exchangesOfPayment, findExchanges } from '../../recorder/store.ts'
import { liveNotice, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, notFound, type Page } from '../frame/page.ts'
import { code, listing, paragraph, statusTag, time, untrusted } from '../frame/parts.ts'
import { pageRoute } from '../frame/route.ts'
import { actionRoutes, type RefundFault } from './actions.ts'
import { bugReport } from './bug-report.ts'
import { whatYouCanDo } from './forms.ts'
import { type Rows, timelineOf } from './timeline.ts'
import { reasonFor, timelineView } from './timeline-view.ts'

/** The most exchanges of a payment that its page shows, and webhooks of the account that it looks at. */
const MOST_EXCHANGES = 1_000
const MOST_WEBHOOKS = 100

/** The page of a payment, and what can be done there. */
export const paymentRoutes = (context: Context): Route[] => [
  pageRoute(context, 'payments/{payment_id}', async visit =>
    showPayment(context, visit, await paymentOf(context, visit)),
  ),
  ...actionRoutes(context, {
    find: visit => paymentOf(context, visit),
    show: (visit, payment, fault) => showPayment(context, visit, payment, fault),
  }),
]

/** The payment in the path. Throws a 404 when the account has no such payment. */
async function paymentOf({ database }: Context, visit: AccountVisit): Promise<Payment> {
  const { account, now, request } = visit
  const found = await findPayment(database, account.room, pathParam(request, 'payment_id'), now)
  if (!found) throw notFound()
  return found
}

/** What its timeline shows, in short. */
export async function paymentNews(
  { database }: Context,
  { account, now }: AccountVisit,
  payment_id: string,
): Promise<News> {
  const { room } = account
  const payment = await findPayment(database, room, payment_id, now)
  if (!payment) throw notFound()
  const newest = { limit: 1, order: 'newest' } as const
  const [messages, [exchange]] = await Promise.all([
    messagesOfPayment(database, payment_id),
    findExchanges(database, room, { payment_id }, newest),
  ])
  const attempts = messages.flatMap(message => attemptsOf(message))
  const times = [...payment.events, ...attempts, ...(exchange ? [exchange] : [])].map(
    ({ at }) => at,
  )
  const shown = [
    payment.version,
    exchange?.exchange_id,
    messages.map(({ message_id, status, attempts }) => [message_id, status, attempts]),
  ]
  return { version: versionOf(shown), ago: Math.max(0, now - Math.max(...times)) }
}

async function rowsOf(
  { database }: Context,
  { account }: AccountVisit,
  payment: Payment,
): Promise<Rows> {
  const { room } = account
  const { payment_id } = payment
  const [exchanges, messages, refunds, webhooks] = await Promise.all([
    exchangesOfPayment(database, room, payment_id, MOST_EXCHANGES),
    messagesOfPayment(database, payment_id),
    refundsOf(database, payment_id),
    newestWebhooks(database, room, MOST_WEBHOOKS),
  ])
  return { payment, exchanges, messages, refunds, webhooks }
}

async function showPayment(
  context: Context,
  visit: AccountVisit,
  payment: Payment,
  fault?: RefundFault,
): Promise<Page> {
  // Before the rows are read: what changes meanwhile is then announced, and not overlooked.
  const { version } = await paymentNews(context, visit, payment.payment_id)
  const rows = await rowsOf(context, visit, payment)
  const shown = masked(payment, present(payment, visit.addresses))
  const title = `Payment of ${inPounds(payment.given.amount)}`
  const timeline = {
    root: visit.root,
    now: visit.now,
    payment_id: payment.payment_id,
    steps: timelineOf(rows),
    hasWebhooks: rows.webhooks.length > 0,
    isSeeded: payment.origin === 'seed',
  }
  const isCut = rows.exchanges.length === MOST_EXCHANGES
  const state = stateOf(payment)
  const reason = reasonFor(state)
  const content = html`<span class="govuk-caption-l">${untrusted(payment.given.reference)}</span>
<h1 class="govuk-heading-l">${title} ${statusTag(state.status)}</h1>
${paragraph(html`${code(payment.payment_id)}${reason && html`, ${reason}`}`)}
${liveNotice(visit, {
  list: `payment:${payment.payment_id}`,
  version,
  href: `${visit.root}payments/${payment.payment_id}`,
})}
<h2 class="govuk-heading-m">What you can do now</h2>
${whatYouCanDo(visit, payment, fault)}
${details('Copy for a bug report', listing('Bug report', bugReport(rows, shown)))}
<h2 class="govuk-heading-m">Timeline</h2>
${paragraph('Times are UTC. The time of a request is when it began.')}
${timelineView(timeline)}
${isCut && paragraph(`Only the first ${MOST_EXCHANGES} requests and attempts are shown.`)}
<h2 class="govuk-heading-m">Details</h2>
${summaryList(detailRows(payment, rows))}
${details('The payment as GET answers it', listing('Payment', JSON.stringify(shown, null, 2)))}`
  return { title, section: 'payments', content, faults: fault && { amount: fault.message } }
}

/** Without the secret of its token. */
const masked = ({ secret }: Payment, shown: object): object =>
  JSON.parse(JSON.stringify(shown).replaceAll(secret, MASK))

function detailRows(payment: Payment, { refunds }: Rows): SummaryRow[] {
  const { payment_id, given, card, provider_id } = payment
  const shown = card ?? given.prefilled
  const address = Object.values(shown?.billing_address ?? {}).join(', ')
  const number = card?.last_digits_card_number
    ? `${card.first_digits_card_number ?? ''} ${MASK} ${card.last_digits_card_number}`
    : undefined
  const facts: [key: string, value: string | undefined][] = [
    ['Description', given.description],
    ['Return URL', given.return_url],
    ['Email', given.email],
    ['Language', given.language],
    ['Mode', given.moto ? `${given.authorisation_mode}, moto` : given.authorisation_mode],
    ['Delayed capture', given.delayed_capture ? 'yes' : 'no'],
    ['Agreement', given.agreement_id ?? given.set_up_agreement],
    ['Card brand', card?.card_brand],
    ['Card number', number],
    ['Expiry date', card?.expiry_date],
    ['Cardholder', shown?.cardholder_name],
    ['Billing address', address],
    ['Provider ID', provider_id],
    ...Object.entries(given.metadata ?? {}).map(([name, value]): [string, string] => [
      `Metadata: ${name}`,
      String(value),
    ]),
  ]
  const present = facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
  return [
    { id: 'detail-created', key: 'Date created', value: time(timeOf(payment_id)) },
    ...present.map(([key, value], i) => ({ id: `detail-${i}`, key, value: untrusted(value) })),
    ...refunds.map(({ refund_id, amount }, i) => ({
      id: `refund-${i}`,
      key: 'Refund',
      value: html`${inPounds(amount)}, ${time(timeOf(refund_id))}, ${code(refund_id)}`,
    })),
  ]
}
