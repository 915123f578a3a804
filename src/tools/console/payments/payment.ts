import { timeOf } from '../../../core/ids.ts'
import { inDigits, inPounds } from '../../../core/money.ts'
import { type Payment, stateOf, statusOf } from '../../../pay/payments/payment.ts'
import { presentPayment } from '../../../pay/payments/response.ts'
import { planOf } from '../../../pay/payments/scenario.ts'
import { findPayment } from '../../../pay/payments/store.ts'
import { REFUNDS_COUNTED } from '../../../pay/refunds/store.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { details, type SummaryRow, summaryList } from '../../../platform/web/components.ts'
import { html } from '../../../platform/web/html.ts'
import { messagesOfPayment } from '../../lists/webhooks-store.ts'
import { MASK } from '../../record/mask.ts'
import { findExchanges } from '../../record/store.ts'
import { endingText } from '../../steer/offers.ts'
import { definePage } from '../frame/define-page.ts'
import type { Typed } from '../frame/form.ts'
import { linkBack, type PageVisit } from '../frame/list.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, accountVisitOf, type ConsoleContext, existing } from '../frame/visit.ts'
import { paths, perform } from './actions.ts'
import { refundedText, statesPart, webhooksPart } from './picture.ts'
import { report, summary } from './report.ts'
import { FIRST_LINES, LAST_LINES, type Rows, rowsOf, shownRefunds } from './rows.ts'
import { countUnread, isAfter, isOwn, type Step, timelineOf } from './timeline.ts'
import { MOST_NAMED, reasonFor, timelineNotes, timelineView } from './timeline-view.ts'

export const payment = definePage({
  path: 'payments/{payment_id}',
  read,
  title: (_, { payment }) => `${headingOf(payment)}, ${payment.given.reference}`,
  heading: (_, { payment }) => html`${headingOf(payment)} ${ui.statusTag(statusOf(payment))}`,
  above: (visit, { payment }) => html`${linkBack(visit, 'payments', 'Payments')}
<span class="govuk-caption-l">${ui.untrusted(payment.given.reference)}</span>`,
  show(visit, { payment, rows }, refused?: Typed) {
    const masked = maskedOf(visit, payment)
    const steps = timelineOf(rows)
    const ends = endsOf(steps, rows)
    const [first = 0, last = 0] = ends.map(({ length }) => length)
    const hidden = steps.length - first - last + countUnread(rows, steps)
    const parts = hidden > 0 ? ends : [steps]
    const { attemptsFrom } = rows
    const timeline = { ...visit, payment, attemptsFrom, above: new Set<string>() }
    const notShown = `Not shown: ${ui.counted(hidden, 'step')} between the first ${inDigits(first)} and the last ${inDigits(last)}.`
    const hasWebhooks = rows.webhooks.length > 0
    const address = `payments/${payment.payment_id}`
    const reason = reasonFor(stateOf(payment))
    const refunded = refundedText(payment, rows.refunds)
    return html`${ui.paragraph(html`${refunded}${refunded && ' · '}${ui.code(payment.payment_id)}${reason && html`, ${reason}`}`)}
${statesPart(visit, payment, rows.refunds, refused)}
${webhooksPart(visit, rows.messages, steps)}
${details('Summary for a colleague', ui.listing('Summary', summary(rows, steps, `${visit.addresses.api}${visit.base}/${address}`)), { id: 'summary' })}
${ui.paragraph(html`${ui.link(`${visit.root}${address}/report.json`, 'Download JSON')} (with its requests, at most 256 KB, without secrets)`)}
<h2 class="govuk-heading-m">Timeline</h2>
${ui.paragraph('Times are UTC. The time of a request is when it began.')}
${timelineNotes(visit, payment, { steps: parts.flat(), hasWebhooks })}
${ui.joined(
  parts.map(part => timelineView(timeline, part)),
  ui.paragraph(notShown),
)}
<h2 class="govuk-heading-m">Details</h2>
${summaryList(detailRows(visit, rows))}
${details('The payment as GET returns it', ui.listing('Payment', JSON.stringify(masked, null, 2)))}`
  },
  async live(visit) {
    const { database } = visit.context
    const payment = await paymentOf(visit)
    const { payment_id } = payment
    const newest = { limit: 1, order: 'newest' } as const
    const [messages, refunds, [exchange]] = await Promise.all([
      messagesOfPayment(database, payment_id),
      // Time changes the newest, and the sum if it changes others.
      shownRefunds(database, payment, visit.now, LAST_REFUNDS),
      findExchanges(database, visit.account.room, { payment_id }, newest),
    ])
    const changes = [payment.events, messages.flatMap(attemptsOf), exchange ?? []].flat()
    const version = [
      payment.version,
      payment.refunded_amount,
      exchange?.exchange_id,
      refunds.map(({ status }) => status),
      messages.map(({ message_id, status, attempts }) => [message_id, status, attempts]),
    ]
    return { version, ago: visit.now - Math.max(...changes.map(({ at }) => at)) }
  },
  actions: Object.fromEntries(
    paths.map(path => [
      path,
      async (visit: PageVisit) => perform(visit, path, await paymentOf(visit)),
    ]),
  ),
})

export const reportRoute = (context: ConsoleContext): Route => ({
  method: 'GET',
  path: '/console/payments/{payment_id}/report.json',
  area: 'console',
  handler: async (request, reply) => {
    const visit = accountVisitOf(request, context)
    const id = pathParam(request, 'payment_id')
    const text = await context.reading(visit.request, Symbol(), async () => {
      const { payment, rows } = await read({ ...visit, id })
      return report(rows, maskedOf(visit, payment))
    })
    return reply
      .type('application/json')
      .header('content-disposition', `attachment; filename="payment-${id}.json"`)
      .send(text)
  },
})

type PaymentVisit = Pick<PageVisit, 'context' | 'account' | 'now' | 'id'>

const paymentOf = async ({ context, account, now, id }: PaymentVisit) =>
  existing(await findPayment(context.database, account, id, now))

async function read(visit: PaymentVisit) {
  const payment = await paymentOf(visit)
  return { payment, rows: await rowsOf(visit, payment) }
}

const headingOf = ({ given }: Payment): string => `Payment of ${inPounds(given.amount)}`

const maskedOf = ({ addresses }: AccountVisit, payment: Payment): object =>
  JSON.parse(JSON.stringify(presentPayment(payment, addresses)).replaceAll(payment.secret, MASK))

const LAST_REFUNDS = 50

/** A step has a line for each message: an account may have 100 webhooks. */
const linesOf = ({ messages, missing }: Step): number =>
  1 + messages.length + Math.min(missing.length, MOST_NAMED)

/** The first steps that have at most `lines` lines together, but at least one step. */
function firstOf(steps: readonly Step[], lines: number): Step[] {
  let sum = 0
  return steps.filter((step, i) => {
    sum += linesOf(step)
    return sum <= lines || i === 0
  })
}

/** The steps that are shown of the beginning and of the end, or all of them. */
function endsOf(steps: readonly Step[], { payment, unread }: Rows): (readonly Step[])[] {
  const isShort = !unread && firstOf(steps, FIRST_LINES + LAST_LINES).length === steps.length
  if (isShort) return [steps]
  const head = unread ? steps.filter(step => !isAfter(unread, step)) : steps
  const first = new Set(firstOf(head, FIRST_LINES))
  const tail = steps.filter(step => (unread ? isAfter(unread, step) : !first.has(step)))
  const last = new Set(firstOf(tail.toReversed(), LAST_LINES))
  return [
    steps.filter(step => first.has(step)),
    steps.filter(step => !first.has(step) && (last.has(step) || isOwn(step, payment))),
  ]
}

function detailRows({ root, context }: AccountVisit, rows: Rows): SummaryRow[] {
  const { payment, refunds, refundCount } = rows
  const { payment_id, given, card, provider_id } = payment
  const agreement_id = given.agreement_id ?? given.set_up_agreement
  const person = card ?? given.prefilled
  const address = Object.values(person?.billing_address ?? {})
    .filter(Boolean)
    .join(', ')
  const ending = endingText(planOf(context, payment), given.authorisation_mode)
  const number = card?.last_digits_card_number
    ? `${card.first_digits_card_number ?? ''} ${MASK} ${card.last_digits_card_number}`
    : undefined
  const facts: Record<string, string | undefined> = {
    Description: given.description,
    'Return URL': given.return_url,
    Email: given.email,
    Language: given.language,
    Mode: given.moto ? `${given.authorisation_mode}, moto` : given.authorisation_mode,
    'Chosen end': ending && `${ending}, ${payment.origin ? 'when it was made' : 'by a plan'}`,
    'Delayed capture': given.delayed_capture ? 'yes' : 'no',
    'Card brand': card?.card_brand,
    'Card number': number,
    'Expiry date': card?.expiry_date,
    Cardholder: person?.cardholder_name,
    'Billing address': address,
    'Provider ID': provider_id,
  }
  for (const [name, value] of Object.entries(given.metadata ?? {}))
    facts[`Metadata: ${name}`] = String(value)
  const earlier = refundCount - LAST_REFUNDS
  const filled = Object.entries(facts).filter(([, value]) => value)
  return [
    { id: 'detail-created', key: 'Date created', value: ui.time(timeOf(payment_id)) },
    ...ui.summaryRows('detail', {
      Agreement: agreement_id && ui.link(`${root}agreements/${agreement_id}`, agreement_id),
    }),
    ...filled.map(([key, value = ''], i) => ({
      id: `detail-${i}`,
      key,
      value: ui.untrusted(value),
    })),
    ...refunds.slice(-LAST_REFUNDS).map(({ refund_id, amount, status }, i) => ({
      id: `refund-${i}`,
      key: 'Refund',
      value: html`${inPounds(amount)} ${ui.statusTag(status)} ${ui.time(timeOf(refund_id))}, ${ui.code(refund_id)}`,
    })),
    ...ui.summaryRows('refunds', {
      'Not shown':
        earlier > 0 &&
        `${refundCount < REFUNDS_COUNTED ? '' : 'at least '}${ui.counted(earlier, 'earlier refund')}`,
    }),
  ]
}
