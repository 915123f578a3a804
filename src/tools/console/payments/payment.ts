import { timeOf } from '../../../core/ids.ts'
import { inPounds } from '../../../core/money.ts'
import { type Payment, stateOf } from '../../../pay/payments/payment.ts'
import { presentPayment } from '../../../pay/payments/response.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { details, type SummaryRow, summaryList } from '../../../platform/web/components.ts'
import { html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { messagesOfPayment } from '../../lists/webhooks-store.ts'
import { MASK } from '../../record/mask.ts'
import { findExchanges } from '../../record/store.ts'
import { liveNotice, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, accountVisitOf, notFound, type Page, textsIn } from '../frame/page.ts'
import { BACK, code, link, listing, paragraph, statusTag, time, untrusted } from '../frame/parts.ts'
import { linkBack } from '../frame/query.ts'
import { pageRoute } from '../frame/route.ts'
import { actionRoutes, type RefundError } from './actions.ts'
import { report, summary } from './report.ts'
import { rowsOf } from './rows.ts'
import { statesPart } from './states.ts'
import { type Rows, type Step, timelineOf } from './timeline.ts'
import { reasonFor, timelineView } from './timeline-view.ts'
import { toldPart } from './told.ts'

/** The page of a payment, all of it as JSON, and what can be done there. `operations` are those that change nothing. */
export const paymentRoutes = (context: ToolContext, operations: readonly string[]): Route[] => [
  pageRoute(context, 'payments/{payment_id}', async visit =>
    showPayment(context, visit, operations, await paymentOf(context, visit)),
  ),
  {
    method: 'GET',
    path: '/console/payments/{payment_id}/report.json',
    area: 'console',
    handler: async (request, reply) => {
      const visit = accountVisitOf(request, context)
      const payment = await paymentOf(context, visit)
      const rows = await rowsOf(context, visit, payment, operations)
      return reply
        .type('application/json')
        .header('content-disposition', `attachment; filename="payment-${payment.payment_id}.json"`)
        .send(report(rows, shownOf(visit, payment)))
    },
  },
  ...actionRoutes(context, {
    find: visit => paymentOf(context, visit),
    show: (visit, payment, refundError) =>
      showPayment(context, visit, operations, payment, refundError),
  }),
]

/** The payment in the path. Throws a 404 when the account has no such payment. */
async function paymentOf({ database }: ToolContext, visit: AccountVisit): Promise<Payment> {
  const { account, now, request } = visit
  const found = await findPayment(database, account.room, pathParam(request, 'payment_id'), now)
  if (!found) throw notFound()
  return found
}

/** What its timeline shows, in short. */
export async function paymentNews(
  { database }: ToolContext,
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

async function showPayment(
  context: ToolContext,
  visit: AccountVisit,
  operations: readonly string[],
  payment: Payment,
  refundError?: RefundError,
): Promise<Page> {
  // Before the rows are read: what changes meanwhile is then announced, and not overlooked.
  const { version } = await paymentNews(context, visit, payment.payment_id)
  const rows = await rowsOf(context, visit, payment, operations)
  const shown = shownOf(visit, payment)
  const steps = timelineOf(rows)
  const title = `Payment of ${inPounds(payment.given.amount)}`
  const timeline = {
    root: visit.root,
    now: visit.now,
    payment_id: payment.payment_id,
    steps: ends(steps),
    hasWebhooks: rows.webhooks.length > 0,
    hasEnded: visit.hasEnded,
    origin: payment.origin,
  }
  const hidden = steps.length - timeline.steps.length
  const address = `payments/${payment.payment_id}`
  const state = stateOf(payment)
  const reason = reasonFor(state)
  const { [BACK]: back } = textsIn(visit, [BACK])
  const content = html`${linkBack(visit, 'payments', 'Payments')}
<span class="govuk-caption-l">${untrusted(payment.given.reference)}</span>
<h1 class="govuk-heading-l">${title} ${statusTag(state.status)}</h1>
${paragraph(html`${code(payment.payment_id)}${reason && html`, ${reason}`}`)}
${liveNotice(visit, {
  list: `payment:${payment.payment_id}`,
  version,
  href: `${visit.root}payments/${payment.payment_id}`,
  query: { [BACK]: back },
})}
${statesPart(visit, payment, refundError)}
${toldPart(visit, steps)}
${details('Summary for a colleague', listing('Summary', summary(payment, steps, `${visit.addresses.api}${visit.base}/${address}`)), { id: 'summary' })}
${paragraph(html`${link(`${visit.root}${address}/report.json`, 'Download JSON')} (all of it, without secrets)`)}
<h2 class="govuk-heading-m">Timeline</h2>
${paragraph('Times are UTC. The time of a request is when it began.')}
${timelineView(timeline)}
${hidden > 0 && paragraph(`${hidden} steps between the first ${FIRST_STEPS} and the last ${LAST_STEPS} are not shown.`)}
<h2 class="govuk-heading-m">Details</h2>
${summaryList(detailRows(visit, payment, rows))}
${details('The payment as GET returns it', listing('Payment', JSON.stringify(shown, null, 2)))}`
  return {
    title: `${title}, ${payment.given.reference}`,
    section: 'payments',
    content,
    errors: refundError && { amount: refundError.message },
  }
}

/** The payment as GET answers it, without the secret of its token. */
const shownOf = ({ addresses }: AccountVisit, payment: Payment): object =>
  JSON.parse(JSON.stringify(presentPayment(payment, addresses)).replaceAll(payment.secret, MASK))

/** Of a long timeline the beginning and the end, so that the page stays below 400 KB. */
const FIRST_STEPS = 50
const LAST_STEPS = 200

const ends = (steps: Step[]): Step[] =>
  steps.length <= FIRST_STEPS + LAST_STEPS
    ? steps
    : [...steps.slice(0, FIRST_STEPS), ...steps.slice(-LAST_STEPS)]

function detailRows({ root }: AccountVisit, payment: Payment, { refunds }: Rows): SummaryRow[] {
  const { payment_id, given, card, provider_id } = payment
  const agreement_id = given.agreement_id ?? given.set_up_agreement
  const shown = card ?? given.prefilled
  const address = Object.values(shown?.billing_address ?? {})
    .filter(Boolean)
    .join(', ')
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
  const known = facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
  return [
    { id: 'detail-created', key: 'Date created', value: time(timeOf(payment_id)) },
    ...(agreement_id === undefined
      ? []
      : [
          {
            id: 'detail-agreement',
            key: 'Agreement',
            value: link(`${root}agreements/${agreement_id}`, agreement_id),
          },
        ]),
    ...known.map(([key, value], i) => ({ id: `detail-${i}`, key, value: untrusted(value) })),
    ...refunds.map(({ refund_id, amount }, i) => ({
      id: `refund-${i}`,
      key: 'Refund',
      value: html`${inPounds(amount)}, ${time(timeOf(refund_id))}, ${code(refund_id)}`,
    })),
  ]
}
