/** What needs attention: messages that their receivers did not accept, and requests that were refused. */
import { DAY } from '../../../core/time.ts'
import type { Context } from '../../../pay/context.ts'
import { newestFailures } from '../../../pay/webhooks/list-store.ts'
import { NOBODY_LISTENS } from '../../../pay/webhooks/listener.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import type { Webhook } from '../../../pay/webhooks/webhook.ts'
import { buttonLink } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { acceptedByHand } from '../../recorder/by-hand.ts'
import { findExchange, groupRefusals } from '../../recorder/store.ts'
import { firstMinute, MINUTES } from '../../recorder/traffic-store.ts'
import type { AccountVisit } from '../frame/page.ts'
import { link, paragraph, untrusted } from '../frame/parts.ts'
import { pageAddress } from '../frame/query.ts'
import { NONE, requestLine } from '../requests/list.ts'
import { refusalText } from '../requests/refusal.ts'
import { webhookTitle } from '../webhooks/list.ts'

const MOST_LINES = 5
/** Webhooks that are looked at, and failed messages of each. */
const MOST_WEBHOOKS = 20
const MOST_FAILED = 100

/** One matter. `buttons` lead to what helps. */
type Line = { text: Html; buttons: { text: string; href: string }[] }

/** The lines, and how many there would be without the limit. */
export type Attention = { lines: Line[]; more: number }

export async function readAttention(context: Context, visit: AccountVisit): Promise<Attention> {
  const [failed, refused] = await Promise.all([
    failedLines(context, visit),
    refusedLines(context, visit),
  ])
  const lines = [...failed, ...refused]
  return { lines: lines.slice(0, MOST_LINES), more: Math.max(0, lines.length - MOST_LINES) }
}

export const attentionPart = ({ root }: AccountVisit, { lines, more }: Attention): Html =>
  lines.length === 0
    ? paragraph(
        `Nothing: no request was refused in the last ${MINUTES} minutes, and every message of the last 24 hours was accepted or is on its way.`,
      )
    : html`<ul class="farthing-attention" role="list">
${lines.map(
  ({ text, buttons }, i) => html`<li><p class="govuk-body">${text}</p>
<div class="govuk-button-group">${buttons.map((each, nth) => buttonLink(`help-${i}-${nth}`, each.text, each.href, { secondary: true }))}</div></li>
`,
)}</ul>
${more > 0 && paragraph(html`And ${more} more: ${link(`${root}requests?show=refused`, 'all refused requests')}, ${link(`${root}webhooks`, 'all webhooks')}.`)}`

/** The failed messages of one webhook that ended alike. */
async function failedLines(
  { database }: Context,
  { account, now, root }: AccountVisit,
): Promise<Line[]> {
  const webhooks = (await activeWebhooks(database, account.room)).slice(-MOST_WEBHOOKS)
  const failures = await newestFailures(database, webhooks, {
    since: now - DAY,
    limit: MOST_FAILED,
  })
  const accepted = await acceptedByHand(
    database,
    failures.map(({ payment_id }) => payment_id),
  )
  const open = failures.filter(({ message_id }) => !accepted.has(message_id))
  return webhooks.flatMap(webhook => {
    const own = open.filter(({ webhook_id }) => webhook_id === webhook.webhook_id)
    const byEnding = Map.groupBy(own, each => attemptsOf(each).at(-1)?.result ?? NOBODY_LISTENS)
    return [...byEnding].flatMap(([result, [newest, ...others]]) =>
      newest === undefined || result === NOBODY_LISTENS
        ? []
        : [failedLine(root, webhook, result, newest.message_id, others.length + 1)],
    )
  })
}

function failedLine(
  root: string,
  webhook: Webhook,
  result: string,
  message_id: string,
  count: number,
): Line {
  const many = count >= MOST_FAILED ? `${count} or more` : `${count}`
  return {
    text: html`${many} ${count === 1 ? 'message' : 'messages'} to ${untrusted(webhookTitle(webhook))} failed: ${untrusted(result)}`,
    buttons: [
      { text: 'Why it failed', href: `${root}messages/${message_id}` },
      { text: 'Show the messages', href: `${root}webhooks/${webhook.webhook_id}?delivery=FAILED` },
    ],
  }
}

/** The refused requests that are alike. */
async function refusedLines(
  { database, time }: Context,
  { account, root }: AccountVisit,
): Promise<Line[]> {
  const { room } = account
  const since = firstMinute(time.wall())
  const groups = await groupRefusals(database, room, MOST_LINES + 1, since)
  const newest = await Promise.all(groups.map(each => findExchange(database, room, each.newest)))
  return groups.flatMap(({ operation, code, field, found }, i) => {
    const exchange = newest[i]
    if (!exchange) return []
    const { exchange_id } = exchange
    const why = refusalText(exchange) ?? `${exchange.status ?? 'no response'}`
    const all = pageAddress(`${root}requests`, {
      show: 'refused',
      operation,
      code: code ?? NONE,
      field: field ?? NONE,
    })
    return [
      {
        text: html`${found.toLocaleString('en-GB')} × ${untrusted(requestLine(exchange))} refused: ${untrusted(why)}`,
        buttons: [
          { text: 'Show the request', href: `${root}requests/${exchange_id}` },
          ...(found > 1 ? [{ text: `Show all ${found.toLocaleString('en-GB')}`, href: all }] : []),
        ],
      },
    ]
  })
}
