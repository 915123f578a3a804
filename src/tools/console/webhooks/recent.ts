/** The last deliveries of a webhook at a glance. */
import { iso } from '../../../core/time.ts'
import { attemptsOf, type MessageRow, shownStatus } from '../../../pay/webhooks/message-store.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { type Mark, marksRow } from '../frame/marks.ts'
import type { AccountVisit } from '../frame/page.ts'
import { paragraph } from '../frame/parts.ts'

/** How many deliveries are looked at. */
export const MOST_RECENT = 50

/** `messages` are the newest, newest first; `accepted` are those that were accepted when they were sent again by hand. */
export function recentPart(
  { root, now }: AccountVisit,
  messages: readonly MessageRow[],
  accepted: ReadonlyMap<string, unknown>,
): Html | false {
  if (messages.length === 0) return false
  const marks = messages.map(message => markOf(message, root, now, accepted)).toReversed()
  const label = `The last ${messages.length} deliveries, the newest at the end`
  return html`<h2 class="govuk-heading-m">The last ${messages.length === 1 ? 'delivery' : `${messages.length} deliveries`}</h2>
${marksRow(label, marks)}
<div id="recent">
${paragraph(countsOf(messages, now))}
</div>`
}

function markOf(
  message: MessageRow,
  root: string,
  now: number,
  accepted: ReadonlyMap<string, unknown>,
): Mark {
  const { message_id, event_type, created } = message
  const shown = shownStatus(message, now)
  const isAgain = shown === 'FAILED' && accepted.has(message_id)
  const result =
    attemptsOf(message).at(-1)?.result ?? (shown === 'PENDING' ? 'not sent yet' : 'never sent')
  const text = `${event_type}, ${shown}, ${iso(created)}${isAgain ? ', sent again and accepted' : ''}`
  const href = shown === 'FAILED' ? `${root}messages/${message_id}` : undefined
  return { status: isAgain ? 'sent again' : shown, text, detail: result, href }
}

/** Such as `48 of 50 delivered (96 %). The slowest response took 1,203 ms.` */
function countsOf(messages: readonly MessageRow[], now: number): string {
  const shown = messages.map(message => shownStatus(message, now))
  const count = (status: string) => shown.filter(each => each === status).length
  const [delivered, failed] = [count('SUCCESSFUL'), count('FAILED')]
  const ended = delivered + failed
  const times = messages
    .flatMap(attemptsOf)
    .flatMap(({ status_code, response_time }) =>
      status_code === null ? [] : (response_time ?? []),
    )
  const rest = (['PENDING', 'not listening'] as const).flatMap(status =>
    count(status) > 0 ? [`${count(status)} ${status === 'PENDING' ? 'pending' : status}.`] : [],
  )
  return [
    ...(ended > 0
      ? [`${delivered} of ${ended} delivered (${Math.floor((delivered / ended) * 100)} %).`]
      : []),
    ...rest,
    times.length > 0
      ? `The slowest response took ${Math.max(...times).toLocaleString('en-GB')} ms.`
      : 'No response yet.',
  ].join(' ')
}
