/** The first page of the console: whether all is well, and where to go from there. */

import { timeOf } from '../../../core/ids.ts'
import { DAY } from '../../../core/time.ts'
import type { Status } from '../../../pay/payments/payment.ts'
import { NOBODY_LISTENS } from '../../../pay/webhooks/listener.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { button, buttonGroup, buttonLink } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { findResend, isRunning } from '../../deliver/resend-store.ts'
import { MOST_COPIES } from '../../explain/check/find-mistake.ts'
import { isSignatureRefusal } from '../../explain/wrong-signature.ts'
import { countStatuses, listPayments } from '../../lists/payments-store.ts'
import { type Failure, newestFailures } from '../../lists/webhooks-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import { keptOf } from '../../record/space-store.ts'
import { findExchanges } from '../../record/store.ts'
import { firstMinute, MINUTES, readTraffic } from '../../record/traffic-store.ts'
import { definePage } from '../frame/define-page.ts'
import { refusalText } from '../frame/exchange.ts'
import { countFails, type Fails } from '../frame/fails.ts'
import type { PageVisit } from '../frame/list.ts'
import type { AccountVisit, ConsoleContext } from '../frame/page.ts'
import {
  briefTime,
  copied,
  counted,
  hidden,
  inDigits,
  link,
  paragraph,
  postForm,
  statusTag,
  untrusted,
} from '../frame/parts.ts'
import { addressOfGroup, operationsOf, readRefusals } from '../requests/find.ts'
import { refusedKeysPart, requestLine } from '../requests/list.ts'
import { trafficPart } from './traffic.ts'

/** Payments of one status that are counted, so that a million of them cost no more than these. */
const MOST_COUNTED = 1_000

export const home = definePage({
  path: '',
  navigation: 'Home',
  read,
  show,
  fails: data => data.fails,
  live: async (context, visit) => {
    const { exchange, payment } = await newestOf(context, visit)
    return { version: [exchange?.exchange_id, payment?.payment_id, payment?.version] }
  },
})

/** The newest exchange and the newest payment: what changes anything on the page is one of them. */
async function newestOf({ database }: ConsoleContext, { account, now }: AccountVisit) {
  const newest = { limit: 1, order: 'newest' } as const
  const [[exchange], [payment]] = await Promise.all([
    findExchanges(database, account.room, {}, newest),
    listPayments(database, account.room, {}, { now, ...newest }),
  ])
  return { exchange, payment }
}

async function read(context: ConsoleContext, visit: AccountVisit) {
  const { database, time, refusedKeys } = context
  const { account, now } = visit
  const fails = await countFails(context, account)
  const [newest, traffic, attention, counts] = await Promise.all([
    newestOf(context, visit),
    readTraffic(database, account.room, {
      wall: time.wall(),
      most: keptOf(account.parent !== null),
    }),
    readAttention(context, visit, fails),
    countStatuses(database, account.room, { now, most: MOST_COUNTED + 1 }),
  ])
  return {
    isEmpty: !newest.exchange && !newest.payment,
    traffic,
    attention,
    counts,
    fails,
    refusedKeys: refusedKeys(),
  }
}

function show(
  visit: PageVisit,
  { isEmpty, traffic, attention, counts, refusedKeys }: Awaited<ReturnType<typeof read>>,
): Html {
  return html`${!visit.hasEnded && (isEmpty ? firstSteps(visit) : buttons(visit))}
<h2 class="govuk-heading-m">Last ${MINUTES} minutes</h2>
${trafficPart(traffic)}
${refusedKeysPart(refusedKeys)}
<h2 class="govuk-heading-m">Needs attention</h2>
${attentionPart(visit, attention)}
<h2 class="govuk-heading-m">Payments now</h2>
${countsPart(visit, counts)}
<h2 class="govuk-heading-m">Your service</h2>
${addressPart(visit)}`
}

const buttons = ({ root }: AccountVisit): Html =>
  buttonGroup([
    buttonLink('make-payment', 'Make a payment', `${root}payments/new`),
    buttonLink('register-webhook', 'Register a webhook', `${root}webhooks/new`, {
      secondary: true,
    }),
  ])

const firstSteps = ({ root }: AccountVisit): Html =>
  html`<h2 class="govuk-heading-m">Three steps to begin with</h2>
<ol class="govuk-list govuk-list--number govuk-list--spaced">
<li>${buttonLink('make-payment', 'Make a payment', `${root}payments/new`)}
<br>Choose how it ends, or pay it on its pages. It moves no money.</li>
<li>${link(`${root}webhooks/new`, 'Register a webhook')}, so that your service is told what becomes of payments. Each message and its response are listed here.</li>
<li>Send requests from your own service, to the base URL below and with the key of this account. Each of them is listed here, with its response.</li>
</ol>`

const countsPart = ({ root }: AccountVisit, counts: Map<Status, number>): Html =>
  html`<ul class="govuk-list farthing-counts">
${[...counts].map(
  ([status, found]) =>
    html`<li>${statusTag(status)} ${link(
      `${root}payments?status=${status}`,
      html`${found > MOST_COUNTED ? `more than ${inDigits(MOST_COUNTED)}` : inDigits(found)}<span class="govuk-visually-hidden"> ${status}</span>`,
    )}</li>
`,
)}</ul>
${paragraph(html`Those of the last 7 days. ${link(`${root}payments`, 'All payments')}`)}`

const addressPart = ({ addresses, site }: AccountVisit): Html =>
  html`${paragraph(html`Base URL of the API: ${copied('Base URL', addresses.api)}`)}
${paragraph(link(`${site}/docs`, 'API documentation'))}`

const MOST_LINES = 5
/** Webhooks that are looked at, and failed messages of each. */
const MOST_WEBHOOKS = 20
const MOST_FAILED = 50

/** One matter. `help` are buttons that lead to what helps, or do it. */
type Line = { text: Html; help: Help[] }
/** `posts` are the fields of a form; without it the button is a link. */
type Help = { text: string; href: string; posts?: Record<string, string> }

/** The lines, and how many there would be without the limit. */
type Attention = { lines: Line[]; more: number }

async function readAttention(
  context: ConsoleContext,
  visit: AccountVisit,
  fails: Fails,
): Promise<Attention> {
  const checked = checkLines(visit, fails)
  const [failed, refused] = await Promise.all([
    failedLines(context, visit),
    refusedLines(context, visit),
  ])
  const lines = [...failed, ...checked, ...refused.lines].slice(0, MOST_LINES)
  return { lines, more: failed.length + checked.length + refused.count - lines.length }
}

const attentionPart = (visit: AccountVisit, { lines, more }: Attention): Html =>
  lines.length === 0
    ? paragraph('Nothing.')
    : html`<ul class="farthing-attention" role="list">
${lines.map(
  ({ text, help }, i) => html`<li>${paragraph(text)}
<div class="govuk-button-group">${help.map((each, nth) => helpPart(visit, each, `help-${i}-${nth}`))}</div></li>
`,
)}</ul>
${more > 0 && paragraph(html`And ${more} more: ${link(`${visit.root}requests?show=refused`, 'all refused requests')}, ${link(`${visit.root}deliveries?status=FAILED`, 'all failed messages')}.`)}`

const helpPart = (
  { account, hasEnded }: AccountVisit,
  { text, href, posts }: Help,
  id: string,
): Html | false => {
  if (!posts) return buttonLink(id, text, href, { secondary: true })
  const fields = Object.entries(posts).map(([name, value]) => hidden(name, value))
  return !hasEnded && postForm(account, href, [fields, button({ id, text, secondary: true })])
}

/** The failed messages of one webhook that ended alike. */
async function failedLines(
  { database, time }: ConsoleContext,
  visit: AccountVisit,
): Promise<Line[]> {
  const { account, now } = visit
  const webhooks = (await activeWebhooks(database, account.room)).slice(-MOST_WEBHOOKS)
  const failures = await newestFailures(database, webhooks, {
    since: now - DAY,
    limit: MOST_FAILED,
  })
  const accepted = await acceptedByHand(database, failures)
  const isSending = isRunning(await findResend(database, account.room), time.wall())
  const open = failures.filter(({ message_id }) => !accepted.has(message_id))
  return webhooks.flatMap(webhook => {
    const own = open.filter(({ webhook_id }) => webhook_id === webhook.webhook_id)
    const byEnding = Map.groupBy(own, each => attemptsOf(each).at(-1)?.result ?? NOBODY_LISTENS)
    return [...byEnding].flatMap(([result, failed]) =>
      result === NOBODY_LISTENS ? [] : [failedLine(visit, webhook, { result, failed, isSending })],
    )
  })
}

/** `isSending`: failed messages of the account are being sent again. */
type Failed = { result: string; failed: readonly Failure[]; isSending: boolean }

function failedLine(
  { root, now }: AccountVisit,
  webhook: Webhook,
  { result, failed, isSending }: Failed,
): Line {
  const [newest] = failed
  const count = failed.length
  const many = count >= MOST_FAILED ? `${count} or more` : `${count}`
  const message = `${root}messages/${newest?.message_id}`
  const status = newest ? attemptsOf(newest).at(-1)?.status_code : undefined
  return {
    text: html`${many} ${count === 1 ? 'message' : 'messages'} to ${link(`${root}webhooks/${webhook.webhook_id}?delivery=FAILED`, untrusted(webhookTitle(webhook)))} failed, the newest at ${newest && briefTime(timeOf(newest.message_id), now)}: ${untrusted(result)}`,
    help: [
      isSignatureRefusal(status ?? null)
        ? {
            text: `Ask the receiver (at most ${MOST_COPIES} copies)`,
            href: `${message}/ask`,
            posts: {},
          }
        : { text: 'Why it failed', href: message },
      isSending
        ? { text: 'See what is sent again', href: `${root}deliveries` }
        : {
            text: 'Send all failed again',
            href: `${root}deliveries/resend`,
            posts: { webhook: webhook.webhook_id },
          },
    ],
  }
}

/** The fails of the check. */
function checkLines({ root, now }: AccountVisit, { fails, at }: Fails): Line[] {
  if (fails === 0) return []
  const text = html`${counted(fails, 'thing')} would break in production${at !== undefined && html`, counted at ${briefTime(at, now)}`}`
  return [{ text, help: [{ text: 'Show the check', href: `${root}check` }] }]
}

/** A line for each group of refused requests that are alike, of the newest groups, and how many groups there are. */
async function refusedLines(
  { database, time, operations }: ConsoleContext,
  visit: AccountVisit,
): Promise<{ lines: Line[]; count: number }> {
  const { now, root } = visit
  const since = firstMinute(time.wall())
  const { groups, total } = await readRefusals(database, visit, { most: MOST_LINES, since })
  const names = operationsOf(operations)
  const lines = groups.flatMap(group => {
    const { operation, found, exchange } = group
    if (!exchange) return []
    const why = refusalText(exchange) ?? `${exchange.status ?? 'no response'}`
    const [what, which] =
      found === 1
        ? [requestLine(exchange), '']
        : [`${inDigits(found)} × ${names.get(operation) ?? operation}`, 'the newest, ']
    return [
      {
        text: html`${untrusted(what)} refused, ${which}at ${briefTime(exchange.at, now)}: ${untrusted(why)}`,
        help: [
          { text: 'Show the request', href: `${root}requests/${exchange.exchange_id}` },
          ...(found > 1 ? [{ text: 'Show all like it', href: root + addressOfGroup(group) }] : []),
        ],
      },
    ]
  })
  return { lines, count: total }
}
