/** The webhooks of the account, active ones first, and the form that registers one with the rules of the API. */

import { timeOf } from '../../../core/ids.ts'
import { inDigits } from '../../../core/money.ts'
import { eventMeanings } from '../../../pay/differences/messages.ts'
import { registerWebhook } from '../../../pay/webhooks/commands.ts'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { eventTypesOf, type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { readNewWebhook } from '../../../pay/webhooks/wire.ts'
import type { Json } from '../../../platform/http/fields.ts'
import {
  button,
  buttonLink,
  type SummaryRow,
  summaryCard,
} from '../../../platform/web/components.ts'
import { checkboxes } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { testEvents } from '../../deliver/test-message.ts'
import { type ListedWebhook, listWebhooks } from '../../lists/webhooks-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { fieldParts, submit, type Typed, textIn } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import { type Accepted, acceptedSince, againPart } from '../frame/message-attempts.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'

const MOST_SHOWN = 50

export const webhooks = definePage({
  path: 'webhooks',
  navigation: 'Endpoints',
  read,
  show: (visit, data) =>
    html`${!visit.hasEnded && buttonLink('register-webhook', 'Register a webhook', `${visit.root}webhooks/new`)}
${data.active.total === 0 && ui.emptyState(visit, 'There is no active webhook, so no messages are sent', 'register one', 'webhooks/new')}
${cards('Active webhooks', visit, data.active, data.accepted)}
${cards('Deactivated', visit, data.ended, data.accepted)}`,
  live: true,
})

async function read({ context, account: { room } }: AccountVisit) {
  const { database } = context
  const active = await listWebhooks(database, room, 'ACTIVE', MOST_SHOWN)
  const ended = await listWebhooks(database, room, 'INACTIVE', MOST_SHOWN)
  const messages = [...active.webhooks, ...ended.webhooks].flatMap(({ last }) => last ?? [])
  return { active, ended, accepted: await acceptedByHand(database, messages) }
}

const cards = (
  heading: string,
  visit: AccountVisit,
  { total, webhooks }: { total: number; webhooks: ListedWebhook[] },
  accepted: Accepted,
): Html | false =>
  total > 0 &&
  html`<h2 class="govuk-heading-m">${heading} (${inDigits(total)})</h2>
${total > webhooks.length && ui.paragraph(`The newest ${webhooks.length} are shown.`)}
${webhooks.map(webhook =>
  summaryCard(
    ui.link(`${visit.root}webhooks/${webhook.webhook_id}`, ui.untrusted(webhookTitle(webhook))),
    webhookRows(visit, webhook, webhook.webhook_id, {
      'Last response': lastResponse(webhook, accepted, visit.now),
    }),
  ),
)}`

export const webhookRows = (
  { wall }: AccountVisit,
  webhook: Webhook,
  prefix: string,
  more: ui.SummaryValues,
): SummaryRow[] =>
  ui.summaryRows(prefix, {
    'Callback URL': ui.untrusted(webhook.callback_url),
    Events: Object.values(eventTypesOf).some(types =>
      types.every(type => webhook.subscriptions.includes(type)),
    )
      ? 'All'
      : webhook.subscriptions.join(', '),
    ...more,
    'farthing listen': listenerState(webhook, wall),
    'Date created': ui.time(timeOf(webhook.webhook_id)),
  })

function lastResponse({ last }: ListedWebhook, accepted: Accepted, now: number): string | Html {
  const attempt = last && attemptsOf(last).at(-1)
  if (!last) return 'Nothing was sent yet'
  if (!attempt) return 'None of the newest messages was sent yet'
  const { at, result } = attempt
  const again = acceptedSince(last, accepted)
  return html`${ui.deliveryTag(last.status)} ${ui.untrusted(result)}, ${ui.time(at)}${againPart(again, now)}`
}

/** Whether somebody listens; undefined if it is not the webhook of a listener. */
function listenerState({ callback_url, status, listening_until }: Webhook, wall: number) {
  if (!isListenerAddress(callback_url)) return undefined
  return status === 'ACTIVE' && (listening_until ?? 0) > wall
    ? 'Somebody listens now'
    : 'Nobody listens now'
}

export const newWebhook = definePage({
  path: 'webhooks/new',
  title: 'Register a webhook',
  makes: true,
  show: (visit, _, typed?: Typed) =>
    html`${ui.paragraph('Farthing sends it a signed message about each change of a payment. You see the signing key when it is registered.')}
${actionForm(visit, 'register', fieldsPart(visit, typed))}
${ui.paragraph(html`For a receiver on your own machine, start Farthing with its host and port: ${ui.code('FARTHING_CALLBACK_HOSTS=localhost:4000')}. Or register nothing: ${ui.command('farthing listen')} fetches the messages from there.`)}`,
  actions: { register },
})

async function register(visit: PageVisit): Promise<Next | Typed> {
  const { context, account, form } = visit
  const body = {
    callback_url: textIn(form, 'callback_url'),
    description: textIn(form, 'description'),
    subscriptions: form.getAll('subscriptions'),
  }
  const read = (body: Json) => readNewWebhook(body, account, context)
  return submit(visit, { fields, body, read }, async fields => {
    const { webhook } = await registerWebhook(context, { account, fields, from: 'console' })
    return { to: `webhooks/${webhook.webhook_id}`, done: 'registered' }
  })
}

const fields = {
  callback_url: { label: 'Callback URL', right: { callback_url: 'https://192.0.43.8/' } },
  description: {
    label: 'Description',
    hint: 'Its name on these pages. You may leave it out',
    right: { description: 'D' },
  },
  subscriptions: {
    label: 'Events',
    right: { subscriptions: eventTypesOf.specification.slice(0, 1) },
  },
}

function fieldsPart(visit: PageVisit, typed: Typed | undefined): Html {
  const { behaviour } = visit.account
  const types = eventTypesOf[behaviour]
  const hosts = [...visit.config.callbackHosts]
  const chosen = typed?.form.getAll('subscriptions') ?? testEvents({ subscriptions: types })
  const orHost = `, or a host of FARTHING_CALLBACK_HOSTS: ${hosts.join(', ')}`
  const hint = `An https address that is public${hosts.length > 0 ? orHost : ''}`
  const { callback_url, description } = fields
  return html`${fieldParts(typed, { callback_url: { ...callback_url, hint }, description })}${checkboxes(
    {
      name: 'subscriptions',
      legend: fields.subscriptions.label,
      items: types.map(value => ({
        value,
        text: value,
        hint: eventMeanings[behaviour][value] ?? '',
        checked: chosen.some(type => type === value),
      })),
      error: typed?.errors.subscriptions,
    },
  )}
${button({ id: 'register', text: 'Register the webhook' })}`
}
