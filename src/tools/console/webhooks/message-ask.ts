/** Ask the receiver: the button on a message that its receiver refuses, and the answer. */

import { attemptsOf, type KeptMessage, statusAt } from '../../../pay/webhooks/message-store.ts'
import { button, details } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { resendable } from '../../deliver/send-again.ts'
import { askReceiver, mostCopies } from '../../explain/check/ask.ts'
import { isSignatureRefusal } from '../../explain/wrong-signature.ts'
import { newestAsked } from '../../record/by-hand.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { AccountVisit, Next } from '../frame/page.ts'
import { link, paragraph, postForm, untrusted, wideTable } from '../frame/parts.ts'
import { shortTime } from '../frame/times.ts'
import { statusPart } from '../requests/list.ts'
import { advicePart } from '../signature/advice.ts'
import { nameOfAttempt } from './message-attempts.ts'

/** Leads back to the page of the message, which says what came of it. */
export async function ask(
  context: ToolContext,
  { account, request, now }: AccountVisit,
  found: KeptMessage,
): Promise<Next> {
  const message = resendable(found, now)
  const to = `messages/${found.message_id}`
  if ('reason' in message) return { to, done: { code: 'not-sent' } }
  const isAbandoned = () => request.raw.socket.destroyed
  await askReceiver(context, account, message, { by: 'console', isAbandoned })
  return { to }
}

/**
 * The newest answer, and the button with what it will do. Nothing for a message that no receiver refused. `accepted` is
 * the newest send by hand that the receiver accepted.
 */
export async function askPart(
  context: ToolContext,
  visit: AccountVisit,
  found: KeptMessage,
  accepted: Exchange | undefined,
): Promise<Html | false> {
  const { account, root, now } = visit
  const { payment_id, message_id } = found
  const asked = await newestAsked(context.database, { room: account.room, payment_id, message_id })
  const form = await askForm(context, visit, found, asked !== undefined)
  if (!asked && !form) return false
  return html`<h2 class="govuk-heading-m" id="ask">Ask the receiver</h2>
${asked && accepted && accepted.at > asked.action.at && paragraph(`It was asked at ${shortTime(asked.action.at, now, 'seconds')}, and accepted the message afterwards, at ${shortTime(accepted.at, now, 'seconds')}.`)}
${asked && answerPart(root, asked.action, asked.copies, now)}
${form}`
}

async function askForm(
  context: ToolContext,
  { account, root, now, hasEnded }: AccountVisit,
  found: KeptMessage,
  isAgain: boolean,
): Promise<Html | false> {
  if (hasEnded) return false
  const status = attemptsOf(found).at(-1)?.status_code ?? null
  const message = resendable(found, now)
  if ('reason' in message || statusAt(found, now) !== 'FAILED' || !isSignatureRefusal(status))
    return false
  const copies = await mostCopies(context, account, message)
  return html`${paragraph(
    html`Sends at most ${copies} copies of this message to ${untrusted(message.callback_url)}, one after the other: with the right signature, with one of a random key, and with one for each known mistake until one is accepted. That takes at most 30 seconds. The copies are no attempts of the message.`,
  )}
${postForm(
  account,
  `${root}messages/${found.message_id}/ask`,
  button({
    id: 'ask-receiver',
    text: isAgain ? 'Ask again' : 'Ask the receiver',
    secondary: true,
  }),
)}`
}

function answerPart(
  root: string,
  { at, asked }: Exchange,
  copies: readonly Exchange[],
  now: number,
): Html | undefined {
  if (!asked) return undefined
  const sent = `${asked.posts} ${asked.posts === 1 ? 'copy' : 'copies'}`
  return html`<div id="asked">
<p class="govuk-body-l">${untrusted(asked.sentence)}</p>
${advicePart(asked.advice)}
${details(
  `${sent} sent, asked at ${shortTime(at, now, 'seconds')}`,
  wideTable({
    caption: 'The copies that were sent, newest first',
    hidesCaption: true,
    columns: [{ text: 'Copy' }, { text: 'Response' }],
    rows: copies.map(each => [
      link(
        `${root}requests/${each.exchange_id}`,
        untrusted(each.by_hand ? nameOfAttempt(each.by_hand) : ''),
      ),
      statusPart(each),
    ]),
  }),
  { id: 'copies' },
)}
</div>`
}
