/** One webhook: the results of its last deliveries, its messages, and its actions. */

import { inDigits } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import type { Reading } from '../../../pay/retention.ts'
import { attemptsOf, type MessageRow, statusAt } from '../../../pay/webhooks/message-store.ts'
import { deactivateWebhook, findWebhook } from '../../../pay/webhooks/store.ts'
import { type MessageStatus, type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { backLink, button, details, summaryList } from '../../../platform/web/components.ts'
import { select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { sendTestMessage, testEvents } from '../../deliver/test-message.ts'
import { isSearched, listDeliveries } from '../../lists/webhooks-store.ts'
import { recordAction } from '../../record/action.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { filterForm, type PageVisit, pageLinks } from '../frame/list.ts'
import {
  type Accepted,
  deliveryFilter,
  deliveryOf,
  messageTable,
  noMatch,
  readMessages,
} from '../frame/message-attempts.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { existing } from '../frame/visit.ts'
import { backAddress } from '../payments/new.ts'
import { webhookRows } from './list.ts'
import { probe, probeForm } from './receiver.ts'

const MOST_RECENT = 50

const filters = { delivery: deliveryFilter }
type Visit = PageVisit<typeof filters>

export const webhook = definePage({
  path: 'webhooks/{webhook_id}',
  filters,
  async read(visit) {
    const { database } = visit.context
    const webhook = await webhookOf(visit)
    const status = visit.values.delivery || undefined
    const messages = await readMessages(visit, [webhook], { status })
    const newest = { limit: MOST_RECENT, order: 'newest' } as const
    const recent = await listDeliveries(database, [webhook], {}, newest)
    return { webhook, messages, recent, accepted: await acceptedByHand(database, recent) }
  },
  title: (_, { webhook }) => webhookTitle(webhook),
  heading: (_, { webhook }) => ui.untrusted(webhookTitle(webhook)),
  above: ({ root }) => backLink(`${root}webhooks`, 'Endpoints'),
  show(visit, { webhook, messages, recent, accepted }) {
    const { page } = messages
    const rows = webhookRows(visit, webhook, 'webhook', {
      Status: webhook.status,
      From: webhook.fixed ? 'the settings of the service' : webhook.from && 'this console',
      'Webhook ID': webhook.webhook_id,
    })
    return html`${summaryList(rows)}
${details('Signing key', ui.listing('Signing key', webhook.signing_key), { id: 'signing-key' })}
${recentPart(visit, recent, accepted)}
${testForm(visit, webhook)}
${probeForm(visit, webhook)}
<h2 class="govuk-heading-m">Messages</h2>
${filterForm(visit)}
${page.items.length > 0 ? messageTable(visit, messages) : noneOf(visit, webhook)}
${pageLinks(visit, 'Messages', page)}
${deactivateForm(visit, webhook)}`
  },
  live: true,
  entries: ({ messages }) => messages.page.ids,
  actions: {
    test: sendTest,
    deactivate,
    probe: async visit => probe(visit, await webhookOf(visit)),
  },
})

const webhookOf = async ({ context, account, id }: Visit): Promise<Webhook> =>
  existing(await findWebhook(context.database, account.room, id))

const noneOf = (visit: Visit, webhook: Webhook): Html =>
  visit.values.delivery
    ? noMatch(1, isSearched(visit.values.delivery))
    : ui.emptyState(visit, 'It got no message yet', canTest(webhook) && 'send a test message above')

/** `messages`: the newest, newest first. `accepted`: failed messages that were accepted when sent again by hand. */
function recentPart(visit: Visit, messages: readonly MessageRow[], accepted: Accepted) {
  if (messages.length === 0) return false
  const marks = messages.map(message => markOf(visit, message, accepted)).toReversed()
  const label = `The last ${messages.length} deliveries, the newest at the end`
  return html`<h2 class="govuk-heading-m">The last ${messages.length === 1 ? 'delivery' : `${messages.length} deliveries`}</h2>
${ui.marksRow(label, marks)}
<div id="recent">
${ui.paragraph(countsOf(messages, visit))}
</div>`
}

function markOf(visit: Visit, message: MessageRow, accepted: Accepted): ui.Mark {
  const { message_id, event_type, created } = message
  const { root } = visit
  const shown = statusAt(message, visit)
  const status = deliveryOf(message, visit, accepted.get(message_id))
  const result =
    attemptsOf(message).at(-1)?.result ?? (shown === 'PENDING' ? 'not sent yet' : 'never sent')
  const text = `${event_type}, ${shown}, ${iso(created)}${status === 'sent again' ? ', sent again and accepted' : ''}`
  const href = shown === 'FAILED' ? `${root}messages/${message_id}` : undefined
  return { status, text, detail: result, href }
}

/** Such as `48 of 50 delivered (96 %). The slowest response took 1,203 ms.` */
function countsOf(messages: readonly MessageRow[], reading: Reading): string {
  const counts = Map.groupBy(messages, message => statusAt(message, reading))
  const count = (status: MessageStatus) => counts.get(status)?.length ?? 0
  const delivered = count('SUCCESSFUL')
  const ended = delivered + count('FAILED')
  const rate = `${delivered} of ${ended} delivered (${Math.floor((delivered / ended) * 100)} %).`
  const [pending, unheard] = [count('PENDING'), count('not listening')]
  const times = messages
    .flatMap(attemptsOf)
    .flatMap(({ status_code, response_time }) => (status_code && response_time) ?? [])
  return [
    ended > 0 && rate,
    pending > 0 && `${pending} pending.`,
    unheard > 0 && `${unheard} not listening.`,
    times.length > 0
      ? `The slowest response took ${inDigits(Math.max(...times))} ms.`
      : 'No response yet.',
  ]
    .filter(Boolean)
    .join(' ')
}

const canTest = (webhook: Webhook): boolean =>
  webhook.status === 'ACTIVE' && testEvents(webhook).length > 0

function testForm(visit: Visit, webhook: Webhook): Html | false {
  if (visit.hasEnded || !canTest(webhook)) return false
  const fields = html`${select({
    name: 'event_type',
    label: 'Event',
    options: testEvents(webhook).map(type => [type, type] as const),
  })}
${button({ id: 'send-test', text: 'Send a test message', secondary: true })}`
  return html`<h2 class="govuk-heading-m">Test it</h2>
${ui.paragraph('A payment is made for the message, and marked. No other webhook is told about it.')}
${actionForm(visit, 'test', fields, 'farthing-filter')}`
}

async function sendTest(visit: Visit): Promise<Next> {
  const { context, account, addresses, form, id } = visit
  const webhook = await webhookOf(visit)
  const name = form.get('event_type')
  const event_type = testEvents(webhook).find(type => type === name)
  const notSent: Next = { to: `webhooks/${id}`, done: 'not-sent' }
  if (!event_type) return notSent
  const options = {
    account,
    webhook,
    event_type,
    address: addresses.api,
    return_url: backAddress(visit),
  }
  const message = await recordAction(
    context,
    { by: 'console', operation: 'buildPayment' },
    context => sendTestMessage(context, options),
    result => ({ refund_id: result?.refund_id }),
  )
  // There is no banner: the page of the message shows the result.
  return message ? { to: `messages/${message.message_id}` } : notSent
}

const deactivateForm = (visit: Visit, { status, fixed }: Webhook): Html | false =>
  status === 'ACTIVE' &&
  !visit.hasEnded &&
  details(
    'Deactivate the webhook',
    html`${ui.paragraph('It gets no more messages, and cannot be made active again. Its messages stay here.')}
${fixed && ui.paragraph('It is in the settings of the service, which makes another one at its next start.')}
${actionForm(visit, 'deactivate', button({ id: 'deactivate', text: 'Deactivate', secondary: true }))}`,
    { id: 'deactivation' },
  )

async function deactivate({ context, account, id }: Visit): Promise<Next> {
  const isKnown = await context.database.write([deactivateWebhook(account.room, id)])
  if (!isKnown) throw pageFault(404)
  return { to: `webhooks/${id}`, done: 'deactivated' }
}
