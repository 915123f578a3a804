/** Probe this receiver: the button on the page of a webhook, and the page with what was found. */

import { type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { insetText } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { probeReceiver } from '../../explain/check/probe.ts'
import type { Finding } from '../../explain/check/rule.ts'
import { findingView, probePart } from '../check/findings.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next, Page } from '../frame/page.ts'
import { link, paragraph, untrusted, wideTable } from '../frame/parts.ts'
import { busyPage } from './message-ask.ts'

/** The page with what was found. An inactive webhook gets nothing. */
export async function probe(
  context: ToolContext,
  visit: PageVisit,
  webhook: Webhook,
): Promise<Next | Page> {
  const { account, request, root } = visit
  const { webhook_id, status } = webhook
  if (status !== 'ACTIVE') return { to: `webhooks/${webhook_id}`, done: { code: 'not-sent' } }
  const isAbandoned = () => request.raw.socket.destroyed
  const probed = await probeReceiver(context, account, webhook, isAbandoned)
  if (!probed) return busyPage(link(`${root}webhooks/${webhook_id}`, 'Back to the webhook'))
  const { posts, findings } = probed
  const name = untrusted(webhookTitle(webhook))
  const above = paragraph(link(`${root}webhooks/${webhook_id}`, name))
  const content = html`${paragraph(countsOf(posts, findings))}
${brokenLevels.map(level => findings.filter(each => each.level === level).map(each => findingView(visit, each, level)))}
${table('What passed', findings, 'pass')}
${nothingJudged(findings) ?? table('What was not seen', findings, 'not seen')}
${probeForm(visit, webhook, 'Probe again')}`
  return { title: 'What the receiver does', section: 'webhooks', above, content }
}

const brokenLevels = ['fail', 'warn', 'note'] as const

function countsOf(posts: number, findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter(each => each.level === level).length
  const sent = posts === 1 ? '1 message was sent' : `${posts} messages were sent`
  return `${sent}. ${count('fail')} fail, ${count('warn')} warn, ${count('pass')} passed, ${count('not seen')} not seen.`
}

/** Where no rule could be judged, the reason is the same for all. */
function nothingJudged(findings: readonly Finding[]): Html | undefined {
  const [first] = findings
  const isSame = findings.every(
    ({ level, sentence }) => level === 'not seen' && sentence === first?.sentence,
  )
  return first && isSame ? insetText(untrusted(first.sentence)) : undefined
}

function table(
  heading: string,
  findings: readonly Finding[],
  level: 'pass' | 'not seen',
): Html | false {
  const shown = findings.filter(each => each.level === level)
  if (shown.length === 0) return false
  return html`<h2 class="govuk-heading-m">${heading}</h2>
${wideTable({
  caption: heading,
  columns: ['Rule', 'About', 'Result'],
  rows: shown.map(({ rule, title, sentence }) => [rule, title, untrusted(sentence)]),
})}`
}

export function probeForm(
  visit: PageVisit,
  { webhook_id, status, callback_url }: Webhook,
  text?: string,
): Html | false {
  if (visit.hasEnded || status !== 'ACTIVE') return false
  const probe = { receiver: untrusted(callback_url), id: 'probe', ...(text && { text }) }
  return html`<h2 class="govuk-heading-m">Probe it</h2>
${probePart(visit, webhook_id, probe)}`
}
