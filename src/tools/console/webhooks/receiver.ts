/** Asks a receiver with copies of a message that it refused, or probes it with messages that are made for that. */

import { attemptsOf, type KeptMessage } from '../../../pay/webhooks/message-store.ts'
import { type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { backLink, button, details, insetText } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { ALREADY_SENDING } from '../../deliver/resend.ts'
import { resendable } from '../../deliver/send-again.ts'
import { askReceiver } from '../../explain/check/ask.ts'
import { MOST_COPIES } from '../../explain/check/find-mistake.ts'
import { probeReceiver } from '../../explain/check/probe.ts'
import type { Finding, Verdict } from '../../explain/check/rule.ts'
import { isSignatureRefusal } from '../../explain/wrong-signature.ts'
import { type AcceptedSend, newestAsked } from '../../record/by-hand.ts'
import type { AskResult, Exchange } from '../../record/exchange.ts'
import { findingView, probePart } from '../check/check.ts'
import { actionForm } from '../frame/define-page.ts'
import type { PageVisit } from '../frame/list.ts'
import { nameOfAttempt } from '../frame/message-attempts.ts'
import type { Next, Page } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'
import { statusPart } from '../requests/list.ts'
import { advicePart, keyPart } from '../signature/signature.ts'

/** Asks the receiver, and leads back to the page of the message, which shows the answer. */
export async function ask(visit: AccountVisit, message: KeptMessage): Promise<Next | Page> {
  const { context, account, request, root } = visit
  const sendable = resendable(message, visit)
  const to = `messages/${message.message_id}`
  if ('reason' in sendable) return { to, done: 'not-sent' }
  const isAbandoned = () => request.raw.socket.destroyed
  const answer = await askReceiver(context, account, sendable, { by: 'console', isAbandoned })
  return answer ? { to } : busyPage(ui.link(root + to, 'Back to the message'))
}

/** Says that nothing was sent, because other messages of the account are being sent. */
const busyPage = (back: Html): Page => ({
  title: 'Messages are being sent already',
  status: 409,
  section: 'webhooks',
  content: html`${ui.paragraph(`Nothing was sent: ${ALREADY_SENDING}.`)}
${ui.paragraph(back)}`,
})

/**
 * The newest answer, and the button that asks, below a text that says what will be sent. False for a message that the
 * receiver did not refuse. `accepted` is the newest send by hand that the receiver accepted.
 */
export async function askPart(
  visit: PageVisit,
  message: KeptMessage & { room: string },
  accepted: AcceptedSend | undefined,
): Promise<Html | false> {
  const answer = await newestAsked(visit.context.database, message)
  const form = askForm(visit, message, answer !== undefined)
  if (!answer && !form) return false
  return html`<h2 class="govuk-heading-m" id="ask">Ask the receiver</h2>
${answer && answerOf(visit, message, answer, accepted)}
${form}`
}

function askForm(visit: PageVisit, message: KeptMessage, isAgain: boolean): Html | false {
  const status = attemptsOf(message).at(-1)?.status_code ?? null
  const sendable = resendable(message, visit)
  if (visit.hasEnded || !isSignatureRefusal(status) || 'reason' in sendable) return false
  return html`${ui.paragraph(
    html`Sends at most ${MOST_COPIES} copies of this message to ${ui.untrusted(sendable.callback_url)}, one after the other: with the right signature, with one of a random key, with the other signing keys of the account, and with one for each known mistake until one is accepted. That takes at most 30 seconds. The copies are no attempts of the message. Nothing is sent if its response to the newest attempt shows the mistake.`,
  )}
${actionForm(visit, 'ask', button({ id: 'ask-receiver', text: isAgain ? 'Ask again' : 'Ask the receiver' }))}`
}

/** The newest answer, folded away once the receiver has accepted the message. */
function answerOf(
  visit: AccountVisit,
  message: KeptMessage,
  { action, copies }: { action: Exchange; copies: Exchange[] },
  accepted: AcceptedSend | undefined,
): Html {
  const part = html`${action.asked && answerPart(visit, action.asked, action.at, copies)}
${action.asked?.cause === 'unknown' && keyPart({ webhook: message.callback_url, signing_key: message.signing_key })}`
  if (!accepted || accepted.at <= action.at) return part
  const timeText = (at: number) => ui.shortTime(at, visit.now, 'seconds')
  return html`${ui.paragraph(`It accepted the message at ${timeText(accepted.at)}.`)}
${details(`What it did before, when it was asked at ${timeText(action.at)}`, part, { id: 'asked-before' })}`
}

const answerPart = (
  { root, now }: AccountVisit,
  asked: AskResult,
  at: number,
  copies: readonly Exchange[],
): Html => html`<div id="asked">
<p class="govuk-body-l">${ui.untrusted(asked.sentence)}</p>
${advicePart(asked.advice)}
${asked.posts === 0 && asked.evidence.map(id => ui.paragraph(ui.link(`${root}requests/${id}`, 'The attempt whose response shows it')))}
${
  asked.posts > 0 &&
  details(
    `${asked.posts} ${asked.posts === 1 ? 'copy' : 'copies'} sent, asked at ${ui.shortTime(at, now, 'seconds')}`,
    ui.wideTable(copies, {
      caption: 'The copies that were sent, newest first',
      columns: {
        Copy: ({ exchange_id, by_hand }) =>
          ui.link(
            `${root}requests/${exchange_id}`,
            ui.untrusted(by_hand ? nameOfAttempt(by_hand) : ''),
          ),
        Response: statusPart,
      },
    }),
    { id: 'copies' },
  )
}
</div>`

export async function probe(visit: PageVisit, webhook: Webhook): Promise<Next | Page> {
  const { context, account, request, root } = visit
  const { webhook_id, status } = webhook
  if (status !== 'ACTIVE') return { to: `webhooks/${webhook_id}`, done: 'not-sent' }
  const isAbandoned = () => request.raw.socket.destroyed
  const probed = await probeReceiver(context, account, webhook, isAbandoned)
  if (!probed) return busyPage(ui.link(`${root}webhooks/${webhook_id}`, 'Back to the webhook'))
  const { posts, findings } = probed
  const ofLevel = (level: Verdict) => findings.filter(finding => finding.level === level)
  const count = (level: Verdict) => ofLevel(level).length
  const name = ui.untrusted(webhookTitle(webhook))
  const above = backLink(`${root}webhooks/${webhook_id}`, name)
  const content = html`${ui.paragraph(`${ui.counted(posts, 'message')} ${posts === 1 ? 'was' : 'were'} sent. ${count('fail')} fail, ${count('warn')} warn, ${count('pass')} passed, ${count('not seen')} not seen.`)}
${(['fail', 'warn', 'note'] as const).map(level => ofLevel(level).map(finding => findingView(visit, finding)))}
${table('What passed', ofLevel('pass'))}
${sharedReason(findings) ?? table('What was not seen', ofLevel('not seen'))}
${probeForm(visit, webhook, 'Probe again')}`
  return { title: 'What the receiver does', section: 'webhooks', above, content }
}

/** The reason that all rules share, if none had evidence. */
function sharedReason(findings: readonly Finding[]): Html | undefined {
  const reasons = new Set(findings.map(({ level, sentence }) => level === 'not seen' && sentence))
  const [reason] = reasons
  return reasons.size === 1 && reason ? insetText(ui.untrusted(reason)) : undefined
}

const table = (heading: string, findings: readonly Finding[]): Html | false =>
  findings.length > 0 &&
  html`<h2 class="govuk-heading-m">${heading}</h2>
${ui.wideTable(findings, {
  caption: heading,
  columns: {
    Rule: ({ rule }) => rule,
    About: ({ title }) => title,
    Result: ({ sentence }) => ui.untrusted(sentence),
  },
})}`

export function probeForm(
  visit: PageVisit,
  { webhook_id, status, callback_url }: Webhook,
  text?: string,
): Html | false {
  if (visit.hasEnded || status !== 'ACTIVE') return false
  return html`<h2 class="govuk-heading-m">Probe it</h2>
${probePart(visit, webhook_id, { receiver: ui.untrusted(callback_url), id: 'probe', text })}`
}
