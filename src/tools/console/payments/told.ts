/** What each webhook was told about a payment, in a row for each. */
import { shownStatus } from '../../../pay/webhooks/message-store.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { type Mark, marksRow } from '../frame/marks.ts'
import type { AccountVisit } from '../frame/page.ts'
import { link, untrusted } from '../frame/parts.ts'
import type { ShownMessage, Step } from './timeline.ts'

/** The most webhooks that are shown. */
const MOST_SHOWN = 10

type Told = { name: string; messages: ShownMessage[]; missing: string[] }

export function toldPart(visit: AccountVisit, steps: readonly Step[]): Html | false {
  const told = toldBy(steps)
  if (told.size === 0) return false
  const shown = [...told].slice(0, MOST_SHOWN)
  const rest = told.size - shown.length
  return html`<h2 class="govuk-heading-m">Webhooks</h2>
<ul class="farthing-told" role="list">
${shown.map(([webhook_id, each]) => row(visit, webhook_id, each))}</ul>
${rest > 0 && html`<p class="govuk-body">And ${rest} more webhooks.</p>`}`
}

function toldBy(steps: readonly Step[]): Map<string, Told> {
  const told = new Map<string, Told>()
  const of = (webhook_id: string, name: string): Told => {
    const found = told.get(webhook_id) ?? { name, messages: [], missing: [] }
    told.set(webhook_id, found)
    return found
  }
  for (const { messages, missing } of steps) {
    for (const each of messages) of(each.message.webhook_id, each.webhook).messages.push(each)
    for (const { webhook_id, webhook, why } of missing) {
      const { missing: reasons } = of(webhook_id, webhook)
      if (!reasons.includes(why)) reasons.push(why)
    }
  }
  return told
}

function row(
  { root, now }: AccountVisit,
  webhook_id: string,
  { name, messages, missing }: Told,
): Html {
  const marks = messages.map((each): Mark => {
    const { message, again } = each
    const shown = shownStatus(message, now)
    return {
      status: again && shown === 'FAILED' ? 'sent again' : shown,
      text: `${message.event_type}, ${shown}`,
      detail: textOf(each),
      href: `${root}messages/${message.message_id}`,
    }
  })
  const reasons = messages.length > 0 ? missing.map(why => `no other message: ${why}`) : missing
  const texts = [...new Set([...messages.map(textOf), ...reasons])].join('; ')
  return html`<li>${link(`${root}webhooks/${webhook_id}`, untrusted(name))}
${marks.length > 0 && marksRow('Messages', marks)}
<span>${untrusted(texts)}</span></li>
`
}

/** Such as `2 attempts, 401 Unauthorized`. */
function textOf({ attempts, again }: ShownMessage): string {
  const result = attempts.at(-1)?.ending.result
  if (result === undefined) return 'no attempt yet'
  const tries = attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`
  return `${tries}, ${result}${again ? ', sent again and accepted' : ''}`
}
