/** What needs attention: messages that their receivers did not accept, fails of the check, and refused requests. */
import { DAY } from '../../../core/time.ts'
import { NOBODY_LISTENS } from '../../../pay/webhooks/listener.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { button, buttonLink } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { MOST_COPIES } from '../../explain/check/ask.ts'
import { isSignatureRefusal } from '../../explain/wrong-signature.ts'
import { type Failure, newestFailures } from '../../lists/webhooks-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { groupRefusals } from '../../record/refusal-store.ts'
import { findExchange } from '../../record/store.ts'
import { firstMinute, MINUTES } from '../../record/traffic-store.ts'
import { countFails } from '../check/fails.ts'
import type { AccountVisit } from '../frame/page.ts'
import { hidden, link, paragraph, postForm, untrusted } from '../frame/parts.ts'
import { pageAddress } from '../frame/query.ts'
import { NONE } from '../requests/find.ts'
import { requestLine } from '../requests/list.ts'
import { refusalText } from '../requests/refusal.ts'

const MOST_LINES = 5
/** Webhooks that are looked at, and failed messages of each. */
const MOST_WEBHOOKS = 20
const MOST_FAILED = 50

/** One matter. `help` are buttons that lead to what helps, or do it. */
type Line = { text: Html; help: Help[] }
/** `posts` are the fields of a form; without it the button is a link. */
type Help = { text: string; href: string; posts?: Record<string, string> }

/** The lines, and how many there would be without the limit. */
export type Attention = { lines: Line[]; more: number }

export async function readAttention(context: ToolContext, visit: AccountVisit): Promise<Attention> {
  const [failed, checked, refused] = await Promise.all([
    failedLines(context, visit),
    checkLines(context, visit),
    refusedLines(context, visit),
  ])
  const lines = [...failed, ...checked, ...refused.lines].slice(0, MOST_LINES)
  return { lines, more: failed.length + checked.length + refused.count - lines.length }
}

export const attentionPart = (visit: AccountVisit, { lines, more }: Attention): Html =>
  lines.length === 0
    ? paragraph(
        `Nothing: no request was refused in the last ${MINUTES} minutes, as far as they are kept, and no message of the last 24 hours failed at the receivers of the newest ${MOST_WEBHOOKS} active webhooks.`,
      )
    : html`<ul class="farthing-attention" role="list">
${lines.map(
  ({ text, help }, i) => html`<li>${paragraph(text)}
<div class="govuk-button-group">${helpFor(visit, help).map((each, nth) => helpPart(visit, each, `help-${i}-${nth}`))}</div></li>
`,
)}</ul>
${more > 0 && paragraph(html`And ${more} more: ${link(`${visit.root}requests?show=refused`, 'all refused requests')}, ${link(`${visit.root}deliveries?status=FAILED`, 'all failed messages')}.`)}`

const helpFor = ({ hasEnded }: AccountVisit, help: readonly Help[]): readonly Help[] =>
  hasEnded ? help.filter(({ posts }) => !posts) : help

const helpPart = ({ account }: AccountVisit, { text, href, posts }: Help, id: string): Html =>
  posts
    ? postForm(
        account,
        href,
        html`${Object.entries(posts).map(([name, value]) => hidden(name, value))}${button({ id, text, secondary: true })}`,
      )
    : buttonLink(id, text, href, { secondary: true })

/** The failed messages of one webhook that ended alike. */
async function failedLines(
  { database }: ToolContext,
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
    return [...byEnding].flatMap(([result, failed]) =>
      result === NOBODY_LISTENS ? [] : [failedLine(root, webhook, result, failed)],
    )
  })
}

function failedLine(
  root: string,
  webhook: Webhook,
  result: string,
  failed: readonly Failure[],
): Line {
  const [newest] = failed
  const count = failed.length
  const many = count >= MOST_FAILED ? `${count} or more` : `${count}`
  const message = `${root}messages/${newest?.message_id}`
  const status = newest ? attemptsOf(newest).at(-1)?.status_code : undefined
  return {
    text: html`${link(`${root}deliveries?${new URLSearchParams({ webhook: webhook.webhook_id, status: 'FAILED' })}`, `${many} ${count === 1 ? 'message' : 'messages'}`)} to ${untrusted(webhookTitle(webhook))} failed: ${untrusted(result)}`,
    help: [
      isSignatureRefusal(status ?? null)
        ? {
            text: `Ask the receiver (at most ${MOST_COPIES} copies)`,
            href: `${message}/ask`,
            posts: {},
          }
        : { text: 'Why it failed', href: message },
      {
        text: 'Send all failed again',
        href: `${root}deliveries/resend`,
        posts: { webhook: webhook.webhook_id },
      },
    ],
  }
}

/** The fails of the check. */
async function checkLines(context: ToolContext, { account, root }: AccountVisit): Promise<Line[]> {
  const fails = await countFails(context, account)
  if (fails === 0) return []
  const text = html`${fails} ${fails === 1 ? 'thing' : 'things'} would break in production`
  return [{ text, help: [{ text: 'Show the check', href: `${root}check` }] }]
}

/** A line for each group of refused requests that are alike, of the newest groups, and how many groups there are. */
async function refusedLines(
  { database, time }: ToolContext,
  { account, root }: AccountVisit,
): Promise<{ lines: Line[]; count: number }> {
  const { room } = account
  const since = firstMinute(time.wall())
  const groups = await groupRefusals(database, room, since)
  const shown = groups.slice(0, MOST_LINES)
  const newest = await Promise.all(shown.map(each => findExchange(database, room, each.newest)))
  const lines = shown.flatMap(({ operation, code, field, found }, i) => {
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
        help: [
          { text: 'Show the request', href: `${root}requests/${exchange_id}` },
          ...(found > 1 ? [{ text: `Show all ${found.toLocaleString('en-GB')}`, href: all }] : []),
        ],
      },
    ]
  })
  return { lines, count: groups.length }
}
