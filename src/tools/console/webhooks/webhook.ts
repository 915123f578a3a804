/** One webhook and its messages. */

import { timeOf } from '../../../core/ids.ts'
import type { MessageRow } from '../../../pay/webhooks/message-store.ts'
import { findWebhook } from '../../../pay/webhooks/store.ts'
import { type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { button, details, type SummaryRow, summaryList } from '../../../platform/web/components.ts'
import { select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { messagesOfWebhook } from '../../lists/webhooks-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import type { Exchange } from '../../record/exchange.ts'
import { type CursorPage, readPage } from '../frame/cursor.ts'
import { liveNotice, NEWEST, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, notFound, type Page, textsIn } from '../frame/page.ts'
import {
  deliveryName,
  link,
  listing,
  paragraph,
  summaryRows,
  time,
  untrusted,
} from '../frame/parts.ts'
import { choiceIn, cursorIn, linksBeside } from '../frame/query.ts'
import { pageRoute } from '../frame/route.ts'
import { eventsOf, listenerState } from './list.ts'
import { messageTable, shownOf } from './message-table.ts'
import { probeForm } from './probe.ts'
import { MOST_RECENT, recentPart } from './recent.ts'
import { deactivateForm, testForm } from './webhook-actions.ts'

const SIZE = 50
const deliveries = ['SUCCESSFUL', 'FAILED', 'PENDING'] as const
type Delivery = (typeof deliveries)[number]

export const webhookRoute = (context: ToolContext): Route =>
  pageRoute(context, 'webhooks/{webhook_id}', visit => webhookPage(context, visit))

async function webhookOf({ database }: ToolContext, { account }: AccountVisit, id: string) {
  const webhook = await findWebhook(database, account.room, id)
  if (!webhook) throw notFound()
  return webhook
}

const deliveryIn = (visit: AccountVisit): Delivery | undefined =>
  choiceIn(visit, 'delivery', deliveries)

type Found = CursorPage<MessageRow> & { accepted: Map<string, Exchange> }

async function readMessages(
  { database }: ToolContext,
  visit: AccountVisit,
  { webhook_id }: Webhook,
): Promise<Found> {
  const delivery = deliveryIn(visit)
  const found = await readPage<MessageRow>(
    cursorIn(visit),
    SIZE,
    ({ message_id }) => message_id,
    (from, options) =>
      messagesOfWebhook(database, webhook_id, { ...(delivery && { delivery }), ...from }, options),
  )
  return { ...found, accepted: await acceptedOf({ database }, found.items) }
}

function acceptedOf({ database }: Pick<ToolContext, 'database'>, messages: readonly MessageRow[]) {
  const failed = messages.filter(({ status }) => status === 'FAILED')
  return acceptedByHand(database, [...new Set(failed.map(({ payment_id }) => payment_id))])
}

const versionOfPage = (webhook: Webhook, { items, accepted }: Found, wall: number): string =>
  versionOf([rowsFor(webhook, wall), shownOf(items, accepted)])

export async function webhookNews(
  context: ToolContext,
  visit: AccountVisit,
  webhook_id: string,
): Promise<News> {
  const webhook = await webhookOf(context, visit, webhook_id)
  const found = await readMessages(context, visit, webhook)
  const { [NEWEST]: newest } = textsIn(visit, [NEWEST])
  const newer = found.items.filter(({ message_id }) => message_id > newest).length
  const version = versionOfPage(webhook, found, context.time.wall())
  return { version, ...(found.newer ? {} : { newer }) }
}

async function webhookPage(context: ToolContext, visit: AccountVisit): Promise<Page> {
  const { request, root } = visit
  const { database } = context
  const webhook = await webhookOf(context, visit, pathParam(request, 'webhook_id'))
  const { webhook_id } = webhook
  const delivery = deliveryIn(visit)
  const found = await readMessages(context, visit, webhook)
  const wall = context.time.wall()
  const newest = { limit: MOST_RECENT, order: 'newest' } as const
  const recent = await messagesOfWebhook(database, webhook_id, {}, newest)
  const content = html`<p class="govuk-body">${link(`${root}webhooks`, 'Webhooks')}</p>
<h1 class="govuk-heading-l farthing-text">${untrusted(webhookTitle(webhook))}</h1>
${summaryList(rowsFor(webhook, wall))}
${details('Signing key', listing('Signing key', webhook.signing_key), { id: 'signing-key' })}
${recentPart(visit, recent, await acceptedOf(context, recent))}
${testForm(visit, webhook)}
${probeForm(visit, webhook)}
<h2 class="govuk-heading-m">Messages</h2>
${filterForm(webhook_id, delivery, visit)}
${liveNotice(visit, {
  list: `webhook:${webhook_id}`,
  version: versionOfPage(webhook, found, wall),
  newest: found.items[0]?.message_id,
  href: webhook_id,
  query: { delivery, ...cursorIn(visit) },
})}
${messagesPart(found, delivery, visit)}
${deactivateForm(visit, webhook)}`
  return { title: webhookTitle(webhook), section: 'webhooks', content }
}

function rowsFor(webhook: Webhook, wall: number): SummaryRow[] {
  const { webhook_id, callback_url, status, fixed, from } = webhook
  const rows: Parameters<typeof summaryRows>[0] = [
    ['Callback URL', untrusted(callback_url)],
    ['Events', eventsOf(webhook)],
    ['Status', status],
    ['From', fixed ? 'the settings of the service' : from && 'this console'],
    ['farthing listen', listenerState(webhook, wall)],
    ['Date created', time(timeOf(webhook_id))],
    ['Webhook ID', webhook_id],
  ]
  return summaryRows(rows, 'webhook')
}

const filterForm = (
  webhook_id: string,
  delivery: Delivery | undefined,
  { root }: AccountVisit,
): Html =>
  html`<form class="farthing-filter" method="get" action="${root}webhooks/${webhook_id}">
${select({
  name: 'delivery',
  label: 'Delivery status',
  options: [
    { value: '', text: 'All' },
    ...deliveries.map(value => ({ value, text: deliveryName(value) })),
  ],
  value: delivery ?? '',
})}
${button({ id: 'filter', text: 'Filter', secondary: true })}
</form>`

function messagesPart(found: Found, delivery: Delivery | undefined, visit: AccountVisit): Html {
  const { request } = visit
  if (found.items.length === 0)
    return paragraph(
      delivery
        ? 'There are no results for the filters you used.'
        : 'It got no message yet. One is sent when a payment changes, if the webhook is subscribed to that event.',
    )
  const [page = ''] = request.originalUrl.split('?')
  const here = page.slice(page.lastIndexOf('/') + 1)
  const { items: messages, accepted } = found
  return html`${messageTable(visit, { caption: 'Messages, newest first', messages, accepted })}
${linksBeside('Messages', found, here, { delivery })}`
}
