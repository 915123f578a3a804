import { DAY } from '../../../core/time.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { eventTypes, type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { button, insetText } from '../../../platform/web/components.ts'
import type { Option } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { failedToSend, MOST_RESENT, resendAll } from '../../deliver/resend.ts'
import { findResend, isRunning, type NewestResend } from '../../deliver/resend-store.ts'
import { type DeliveryRow, isSearched, newestWebhooks } from '../../lists/webhooks-store.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { filterForm, isFiltered, oneOf, type PageVisit, pageLinks } from '../frame/list.ts'
import { deliveryFilter, messageTable, noMatch, readMessages } from '../frame/message-attempts.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, pageAddress } from '../frame/visit.ts'

/** How many of the newest webhooks have their messages listed even if they are deactivated. */
const MOST_ENDED = 100

const filters = {
  webhook: { label: 'Webhook' },
  event: oneOf('Event', eventTypes),
  status: deliveryFilter,
}
type Visit = PageVisit<typeof filters>

export const deliveries = definePage({
  path: 'deliveries',
  navigation: 'Deliveries',
  filters,
  async read(visit) {
    const { webhook, event, status } = visit.values
    const run = await findResend(visit.context.database, visit.account.room)
    const webhooks = await webhooksOf(visit)
    const chosen = chosenOf(webhooks, webhook)
    const ofEvent = { event_type: event || undefined }
    return {
      webhooks,
      messages: await readMessages(visit, chosen, { ...ofEvent, status: status || undefined }),
      open: await failedToSend(visit, chosen, ofEvent),
      // The newest resend, if it began within a day.
      resent: run && visit.now - run.at < DAY ? run : undefined,
    }
  },
  show(visit, { webhooks, messages, open, resent }) {
    const { root, values } = visit
    const { page } = messages
    const names = new Map(webhooks.map(webhook => [webhook.webhook_id, webhookTitle(webhook)]))
    const choices = webhooks.map(({ webhook_id: id, status }): Option => {
      return [id, `${names.get(id)}${status === 'INACTIVE' ? ' (deactivated)' : ''}`]
    })
    const nameOf = ({ webhook_id }: DeliveryRow) =>
      ui.link(`${root}webhooks/${webhook_id}`, ui.untrusted(names.get(webhook_id) ?? webhook_id))
    return html`${webhooks.length > 0 && filterForm(visit, { webhook: choices })}
${resent && html`<div id="resent">${insetText(progressOf(resent, visit))}</div>`}
${open.length > 0 && !isRunning(resent, visit.wall) && actionForm(visit, 'resend', resendFields(open.length, values))}
${page.items.length === 0 ? nothing(visit, webhooks) : messageTable(visit, messages, nameOf)}
${pageLinks(visit, 'Messages', page)}`
  },
  live: true,
  entries: ({ messages }) => messages.page.ids,
  actions: { resend },
})

async function webhooksOf({ context: { database }, account }: AccountVisit): Promise<Webhook[]> {
  const [active, newest] = await Promise.all([
    activeWebhooks(database, account.room),
    newestWebhooks(database, account.room, MOST_ENDED),
  ])
  const byId = new Map([...newest, ...active].map(webhook => [webhook.webhook_id, webhook]))
  return [...byId.values()].sort((a, b) => (a.webhook_id < b.webhook_id ? 1 : -1))
}

const chosenOf = (webhooks: readonly Webhook[], webhook: string): Webhook[] =>
  webhooks.filter(({ webhook_id }) => webhook === '' || webhook === webhook_id)

function nothing(visit: Visit, webhooks: readonly Webhook[]): Html {
  if (webhooks.length === 0)
    return ui.emptyState(
      visit,
      'There are no messages, because no webhook is registered',
      'register one',
      'webhooks/new',
    )
  if (!isFiltered(visit))
    return ui.emptyState(visit, 'There are no messages yet', 'make a payment', 'payments/new')
  const { webhook, event, status } = visit.values
  return noMatch(chosenOf(webhooks, webhook).length, event !== '' || isSearched(status))
}

async function resend(visit: Visit): Promise<Next> {
  const { form } = visit
  const webhook = form.get('webhook') ?? ''
  const event_type = eventTypes.find(type => type === form.get('event'))
  const to = pageAddress('deliveries', { webhook, event: event_type })
  const webhooks = chosenOf(await webhooksOf(visit), webhook)
  const open = await failedToSend(visit, webhooks, { event_type })
  if (open.length === 0) return { to, done: 'none-failed' }
  const ids = open.map(({ message_id }) => message_id)
  const isBegun = await resendAll(visit.context, visit.account, ids)
  return { to, done: isBegun ? 'resending' : 'resending-already' }
}

/** `count` messages can be sent again. Hidden fields keep the webhook and the event by which the list is filtered. */
const resendFields = (count: number, { webhook, event }: Visit['values']): Html =>
  html`${webhook && ui.hidden('webhook', webhook)}${event && ui.hidden('event', event)}
${button({ id: 'send-all', text: `Send all failed again (${count === MOST_RESENT ? `the newest ${MOST_RESENT}` : count})` })}`

function progressOf(resend: NewestResend, { now, wall }: AccountVisit): string {
  const { at, left, accepted, failed, skipped } = resend
  const done = accepted + failed + skipped
  const of = `${done} of ${done + left.length}`
  const results = [
    accepted > 1 ? `${accepted} were accepted` : `${accepted === 1 ? '1' : 'none'} was accepted`,
    failed > 0 && `${failed} failed again`,
    skipped > 0 && `${skipped} could not be sent any more`,
  ]
    .filter(Boolean)
    .join(', ')
  const begun = ui.shortTime(at, now)
  if (left.length === 0) return `Sent again at ${begun}: ${of}, ${results}.`
  return isRunning(resend, wall)
    ? `Being sent again since ${begun}: ${of} so far, ${results}.`
    : `Sending again, begun at ${begun}, has stopped after ${of}, because the service stopped: ${results}.`
}
