/** What can be done with a webhook on its page. */

import { deactivateWebhook, findWebhook } from '../../../pay/webhooks/store.ts'
import type { Webhook } from '../../../pay/webhooks/webhook.ts'
import { formBody } from '../../../platform/http/body.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { button, details } from '../../../platform/web/components.ts'
import { select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { sendTestMessage, type TestMessage, testEvents } from '../../deliver/test-message.ts'
import { recordAction } from '../../record/action.ts'
import { type AccountVisit, type Next, notFound } from '../frame/page.ts'
import { paragraph, postForm } from '../frame/parts.ts'
import { actionRoute } from '../frame/route.ts'
import { backAddress } from '../payments/back-address.ts'

export const webhookActionRoutes = (context: ToolContext): Route[] => [
  actionRoute(context, 'webhooks/{webhook_id}/test', {
    purpose: 'test',
    act: visit => sendTest(context, visit),
  }),
  actionRoute(context, 'webhooks/{webhook_id}/deactivate', {
    purpose: 'deactivate',
    act: visit => deactivate(context, visit),
  }),
]

async function sendTest(context: ToolContext, visit: AccountVisit): Promise<Next> {
  const { account, addresses, request } = visit
  const webhook_id = pathParam(request, 'webhook_id')
  const webhook = await findWebhook(context.database, account.room, webhook_id)
  if (!webhook) throw notFound()
  const asked = formBody(request).get('event_type')
  const event_type = testEvents(webhook).find(each => each === asked)
  const sent =
    event_type &&
    (await recordAction(
      context,
      {
        by: 'console',
        operation: 'buildPayment',
        detail: (result: TestMessage | undefined) =>
          result?.refund_id ? `refund_id=${result.refund_id}` : '',
      },
      recordEffects =>
        sendTestMessage(context, {
          account,
          webhook,
          event_type,
          address: addresses.api,
          return_url: backAddress(visit),
          recordEffects,
        }),
    ))
  // The page of the message says what came of it.
  if (sent) return { to: `messages/${sent.message_id}` }
  return { to: `webhooks/${webhook_id}`, done: { code: 'not-sent' } }
}

/** To do it again changes nothing. */
async function deactivate(
  { database }: ToolContext,
  { account, request }: AccountVisit,
): Promise<Next> {
  const webhook_id = pathParam(request, 'webhook_id')
  const known = await database.write([deactivateWebhook(account.room, webhook_id)])
  if (!known) throw notFound()
  return { to: `webhooks/${webhook_id}`, done: { code: 'deactivated' } }
}

export function testForm(
  { account, root, hasEnded }: AccountVisit,
  webhook: Webhook,
): Html | false {
  const events = testEvents(webhook)
  if (hasEnded || webhook.status !== 'ACTIVE' || events.length === 0) return false
  const form = html`${select({
    name: 'event_type',
    label: 'Event',
    options: events.map(value => ({ value, text: value })),
  })}
${button({ id: 'send-test', text: 'Send a test message', secondary: true })}`
  return html`<h2 class="govuk-heading-m">Test it</h2>
${paragraph('A payment is made for the message, and marked. No other webhook is told about it.')}
${postForm(account, `${root}webhooks/${webhook.webhook_id}/test`, form, 'farthing-filter')}`
}

export const deactivateForm = (
  { account, root, hasEnded }: AccountVisit,
  { webhook_id, status, fixed }: Webhook,
): Html | false =>
  status === 'ACTIVE' &&
  !hasEnded &&
  details(
    'Deactivate the webhook',
    html`${paragraph('It gets no more messages, and cannot be made active again. Its messages stay here.')}
${fixed && paragraph('It is in the settings of the service, which makes another one at its next start.')}
${postForm(account, `${root}webhooks/${webhook_id}/deactivate`, button({ id: 'deactivate', text: 'Deactivate', secondary: true }))}`,
    { id: 'deactivation' },
  )
