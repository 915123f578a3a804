/** The messages of all webhooks of the account. */

import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { eventTypes, type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { button } from '../../../platform/web/components.ts'
import { select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { resendAll } from '../../deliver/resend.ts'
import {
  type DeliveryRow,
  listDeliveries,
  listFailedFirst,
  placeOf,
  searchedOf,
} from '../../lists/deliveries-store.ts'
import { newestWebhooks } from '../../lists/webhooks-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { type CursorPage, readPage } from '../frame/cursor.ts'
import { liveNotice, NEWEST, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, type Next, type Page, textsIn } from '../frame/page.ts'
import { deliveryName, link, paragraph, untrusted } from '../frame/parts.ts'
import { choiceIn, cursorIn, linksBeside, pageAddress } from '../frame/query.ts'
import { actionRoute, pageRoute } from '../frame/route.ts'
import { type Accepted, messageTable, shownOf } from '../webhooks/message-table.ts'
import { failedToSend, progressPart, readResend, resendForm } from './send-all.ts'

const SIZE = 50
/** Webhooks that were deactivated and whose messages are listed. */
const MOST_ENDED = 100

const statuses = ['SUCCESSFUL', 'FAILED', 'PENDING', 'not listening'] as const

export const deliveriesRoutes = (context: ToolContext): Route[] => [
  pageRoute(context, 'deliveries', visit => deliveriesPage(context, visit)),
  actionRoute(context, 'deliveries/resend', {
    purpose: 'resend',
    act: visit => resend(context, visit),
  }),
]

const askedIn = (visit: AccountVisit) => ({
  webhook: textsIn(visit, ['webhook']).webhook || undefined,
  event: choiceIn(visit, 'event', eventTypes),
  status: choiceIn(visit, 'status', statuses),
  order: choiceIn(visit, 'order', ['newest'] as const),
})
type Asked = ReturnType<typeof askedIn>

/** The active webhooks and the newest of the others, newest first. */
async function webhooksOf(
  { database }: ToolContext,
  { account }: AccountVisit,
): Promise<Webhook[]> {
  const [active, newest] = await Promise.all([
    activeWebhooks(database, account.room),
    newestWebhooks(database, account.room, MOST_ENDED),
  ])
  const byId = new Map([...newest, ...active].map(webhook => [webhook.webhook_id, webhook]))
  return [...byId.values()].sort((a, b) => (a.webhook_id < b.webhook_id ? 1 : -1))
}

const chosenOf = (webhooks: readonly Webhook[], { webhook }: Pick<Asked, 'webhook'>): Webhook[] =>
  webhooks.filter(({ webhook_id }) => webhook === undefined || webhook === webhook_id)

async function readDeliveries(context: ToolContext, visit: AccountVisit) {
  const { database } = context
  const asked = askedIn(visit)
  const webhooks = await webhooksOf(context, visit)
  const chosen = chosenOf(webhooks, asked)
  const filter = { event_type: asked.event, status: asked.status }
  const isFailedFirst = asked.order !== 'newest' && asked.status === undefined
  const page = await readPage<DeliveryRow>(
    cursorIn(visit),
    SIZE,
    message => (isFailedFirst ? placeOf(message) : message.message_id),
    (range, part) =>
      (isFailedFirst ? listFailedFirst : listDeliveries)(
        database,
        chosen,
        { ...filter, ...range },
        part,
      ),
  )
  const failed = page.items.filter(({ status }) => status === 'FAILED')
  const payments = new Set(failed.map(({ payment_id }) => payment_id))
  return {
    asked,
    webhooks,
    page,
    accepted: await acceptedByHand(database, [...payments]),
    open: await failedToSend(context, visit, chosen, { event_type: asked.event }),
    resent: await readResend(context, visit),
    wall: context.time.wall(),
  }
}

type Shown = Awaited<ReturnType<typeof readDeliveries>> & {
  page: CursorPage<DeliveryRow>
  accepted: Accepted
}

const versionOfList = ({ page, accepted, open, resent, wall }: Shown): string =>
  versionOf([
    shownOf(page.items, accepted),
    open.length,
    resent && [resent.body, resent.claimed_until > wall],
  ])

export async function deliveriesNews(context: ToolContext, visit: AccountVisit): Promise<News> {
  const shown = await readDeliveries(context, visit)
  const { [NEWEST]: newest } = textsIn(visit, [NEWEST])
  const newer = shown.page.items.filter(({ message_id }) => message_id > newest).length
  return { version: versionOfList(shown), ...(shown.page.newer ? {} : { newer }) }
}

async function deliveriesPage(context: ToolContext, visit: AccountVisit): Promise<Page> {
  const { root } = visit
  const shown = await readDeliveries(context, visit)
  const { asked, webhooks, page, open, resent, wall } = shown
  const newest = page.items.map(({ message_id }) => message_id).sort()
  const notice = liveNotice(visit, {
    list: 'deliveries',
    version: versionOfList(shown),
    newest: newest.at(-1),
    href: `${root}deliveries`,
    query: { ...asked, ...cursorIn(visit) },
  })
  const { webhook, event } = asked
  const content = html`<h1 class="govuk-heading-l">Deliveries</h1>
${webhooks.length > 0 && filterForm(visit, asked, webhooks)}
${notice}
${progressPart(resent, visit.now, wall)}
${open.length > 0 && !visit.hasEnded && resendForm(visit, open.length, { webhook, event })}
${page.items.length === 0 ? nothing(visit, asked, webhooks) : list(visit, shown)}
${linksBeside('Messages', page, `${root}deliveries`, asked)}`
  return { title: 'Deliveries', section: 'deliveries', content }
}

function filterForm({ root }: AccountVisit, asked: Asked, webhooks: readonly Webhook[]): Html {
  const all = { value: '', text: 'All' }
  return html`<form class="farthing-filter" method="get" action="${root}deliveries">
${select({
  name: 'webhook',
  label: 'Webhook',
  options: [
    all,
    ...webhooks.map(webhook => ({
      value: webhook.webhook_id,
      text: `${webhookTitle(webhook)}${webhook.status === 'INACTIVE' ? ' (deactivated)' : ''}`,
    })),
  ],
  value: asked.webhook ?? '',
})}
${select({
  name: 'event',
  label: 'Event',
  options: [all, ...eventTypes.map(value => ({ value, text: value }))],
  value: asked.event ?? '',
})}
${select({
  name: 'status',
  label: 'Delivery status',
  options: [all, ...statuses.map(value => ({ value, text: deliveryName(value) }))],
  value: asked.status ?? '',
})}
${select({
  name: 'order',
  label: 'Order',
  options: [
    { value: '', text: 'Failed first' },
    { value: 'newest', text: 'Newest first' },
  ],
  value: asked.order ?? '',
})}
${button({ id: 'filter', text: 'Filter', secondary: true })}
</form>`
}

function list(visit: AccountVisit, { asked, webhooks, page, accepted }: Shown): Html {
  const names = new Map(webhooks.map(webhook => [webhook.webhook_id, webhookTitle(webhook)]))
  const order = asked.order === 'newest' || asked.status ? 'newest first' : 'failed first'
  return messageTable(visit, {
    caption: `Messages, ${order}`,
    messages: page.items,
    accepted,
    webhookOf: ({ webhook_id }) =>
      link(`${visit.root}webhooks/${webhook_id}`, untrusted(names.get(webhook_id) ?? webhook_id)),
  })
}

function nothing(
  { root, hasEnded }: AccountVisit,
  asked: Asked,
  webhooks: readonly Webhook[],
): Html {
  if (webhooks.length === 0)
    return html`${paragraph('There are no messages, because the account has no webhook.')}
${!hasEnded && paragraph(link(`${root}webhooks/new`, 'Register a webhook'))}`
  const { webhook, event, status } = asked
  if (!webhook && !event && !status)
    return paragraph('There are no messages yet. One is sent when a payment changes.')
  const searched = searchedOf(chosenOf(webhooks, asked).length).toLocaleString('en-GB')
  return html`${paragraph('There are no results for the filters you used.')}
${(event || status === 'SUCCESSFUL') && paragraph(`The newest ${searched} messages of each webhook were looked through.`)}`
}

async function resend(context: ToolContext, visit: AccountVisit): Promise<Next> {
  const form = formBody(visit.request)
  const webhook = form.get('webhook') || undefined
  const event_type = eventTypes.find(each => each === form.get('event'))
  const to = pageAddress('deliveries', { webhook, event: event_type })
  const webhooks = chosenOf(await webhooksOf(context, visit), { webhook })
  const open = await failedToSend(context, visit, webhooks, { event_type })
  if (open.length === 0) return { to, done: { code: 'none-failed' } }
  const ids = open.map(({ message_id }) => message_id)
  const isBegun = await resendAll(context, visit.account, ids)
  return { to, done: { code: isBegun ? 'resending' : 'resending-already' } }
}
