import { findPayment } from '../../../pay/payments/store.ts'
import { findMessage, statusAt } from '../../../pay/webhooks/message-store.ts'
import type { Endpoint } from '../../../platform/http/endpoint.ts'
import { insetText, type SummaryRow, summaryList } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { consequenceOf } from '../../explain/wrong-signature.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { asCurl } from '../../record/curl.ts'
import type { Exchange } from '../../record/exchange.ts'
import { findExchange } from '../../record/store.ts'
import { inProduction } from '../check/check.ts'
import { definePage } from '../frame/define-page.ts'
import { endings, headersAndBody } from '../frame/exchange.ts'
import { linkBack } from '../frame/list.ts'
import { acceptedSince, againPart, nameOfAttempt } from '../frame/message-attempts.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, existing } from '../frame/visit.ts'
import { requestLine, statusPart, statusText, tookText } from './list.ts'

export const request = definePage({
  path: 'requests/{exchange_id}',
  async read(visit) {
    const { context, account, id } = visit
    const exchange = existing(await findExchange(context.database, account.room, id))
    return { exchange, caused: await readCaused(visit, exchange) }
  },
  title: ({ now }, { exchange }) =>
    `${requestLine(exchange)}: ${statusText(exchange)} at ${ui.shortTime(exchange.at, now, 'seconds')}`,
  heading: (_, { exchange }) => ui.untrusted(requestLine(exchange)),
  above: visit => linkBack(visit, 'requests', 'Requests'),
  show(visit, { exchange, caused }) {
    const { kind, request_headers, request_body, response_headers, response_body } = exchange
    const curl = asCurl(exchange, visit.addresses.api)
    const [request, response] =
      kind === 'out' ? ['the attempt', 'the receiver’s response'] : ['the request', 'the response']
    return html`${summaryList(rowsFor(exchange, visit))}
${ignoredPart(exchange, visit.context.operations)}
${inProduction(exchange.facts?.broken)}
<h2 class="govuk-heading-m">${kind === 'out' ? 'Sent' : 'Request'}</h2>
${headersAndBody(request, request_headers, request_body)}
${exchange.secret_body && ui.paragraph('Its body is a card, which is not kept.')}
<h2 class="govuk-heading-m">Response</h2>
${
  kind === 'page'
    ? ui.paragraph('The page itself is not kept.')
    : headersAndBody(response, response_headers, response_body)
}
${caused && causedPart(visit, caused)}
<h2 class="govuk-heading-m" id="curl">As curl</h2>
${'reason' in curl ? ui.paragraph(`There is no command for this request. ${curl.reason}`) : ui.listing('As curl', curl.command)}`
  },
})

function rowsFor(exchange: Exchange, { root, context }: AccountVisit): SummaryRow[] {
  const { kind, operation, began, at, result = '', key_id } = exchange
  const { payment_id, message_id, reference, ended, field, by_hand } = exchange
  return ui.summaryRows('', {
    Status: statusPart(exchange),
    Result: kind === 'out' && ui.untrusted(result),
    Why: kind === 'out' && consequenceOf(exchange),
    Code: exchange.code,
    Field: field !== undefined && ui.code(field),
    'Sent by hand': by_hand && nameOfAttempt(by_hand),
    Operation: context.summaries.get(operation) ?? operation,
    Time: ui.time(at),
    'Time of the machine': began - at !== 0 && ui.time(began),
    Took: tookText(exchange),
    Key: key_id !== undefined && ui.nameOfKey(key_id),
    Ended: endings[ended],
    Payment:
      payment_id !== null &&
      ui.link(`${root}payments/${payment_id}`, ui.untrusted(reference ?? payment_id)),
    Message: message_id !== null && ui.link(`${root}messages/${message_id}`, message_id),
  })
}

/** Names the parameters in the query of a search that it does not know. */
function ignoredPart({ operation, query }: Exchange, operations: readonly Endpoint[]) {
  const search = operations.find(({ operationId }) => operationId === operation)?.search
  if (!search) return false
  const names = new Set(new URLSearchParams(query).keys())
  const ignored = [...names].filter(name => !Object.hasOwn(search.filters, name))
  if (ignored.length === 0) return false
  const filters = Object.keys(search.filters).map(ui.code)
  return insetText(
    html`This search does not know ${ui.joined(ignored.map(ui.untrusted), ' and ')}, so it ignored ${ignored.length === 1 ? 'it' : 'them'}. It knows ${ui.joined(filters)}.`,
  )
}

/** The events and the messages that the request caused. An event is undefined where its payment is gone. */
async function readCaused(
  { context: { database }, account, now }: AccountVisit,
  { caused, payment_id }: Exchange,
) {
  if (!caused || payment_id === null) return undefined
  const payment = await findPayment(database, account, payment_id, now)
  const messages = await Promise.all(
    caused.messages.map(message_id => findMessage(database, account.room, message_id)),
  )
  return {
    events: caused.events.map(position => payment?.events[position]),
    messages,
    accepted: await acceptedByHand(database, [{ payment_id }]),
  }
}

function causedPart(
  visit: AccountVisit,
  { events, messages, accepted }: NonNullable<Awaited<ReturnType<typeof readCaused>>>,
): Html {
  const { root, now } = visit
  return html`<h2 class="govuk-heading-m" id="caused">What it caused</h2>
<ul class="govuk-list govuk-list--bullet">
${events.map(
  event =>
    html`<li>${event ? html`The payment became ${ui.statusTag(event.status)}${event.code && ` ${event.code}`}` : 'An event of a payment that is gone'}</li>\n`,
)}${messages.map(
  message =>
    message &&
    html`<li>${ui.link(`${root}messages/${message.message_id}`, message.event_type)} to ${ui.untrusted(message.callback_url)} ${ui.deliveryTag(statusAt(message, visit))}${againPart(acceptedSince(message, accepted), now)}</li>\n`,
)}${events.length + messages.length === 0 && html`<li>Nothing</li>`}</ul>`
}
