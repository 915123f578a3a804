/** The first page of the console: whether all is well, and where to go from there. */

import { behaviourMeanings } from '../../../core/account.ts'
import { inDigits } from '../../../core/money.ts'
import { DAY, iso, MINUTE } from '../../../core/time.ts'
import { attempts } from '../../../pay/differences/messages.ts'
import type { Status } from '../../../pay/payments/payment.ts'
import { daysKept } from '../../../pay/retention.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { button, buttonGroup, buttonLink, details } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { findResend, isRunning } from '../../deliver/resend-store.ts'
import { MOST_COPIES } from '../../explain/check/find-mistake.ts'
import { countFails, type Fails } from '../../explain/check/report.ts'
import { isSignatureRefusal } from '../../explain/wrong-signature.ts'
import { findPayments } from '../../lists/find-payments-store.ts'
import { countStatuses } from '../../lists/payments-store.ts'
import { newestFailures } from '../../lists/webhooks-store.ts'
import { keptOf } from '../../record/space-store.ts'
import { newestId } from '../../record/store.ts'
import {
  firstMinute,
  MINUTES,
  type Minute,
  readTraffic,
  type Traffic,
} from '../../record/traffic-store.ts'
import { definePage } from '../frame/define-page.ts'
import { refusalText } from '../frame/exchange.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'
import { addressOfGroup, readRefusals, refusedKeysPart, requestLine } from '../requests/list.ts'

/** The most payments of one status that are counted, so that a million of them cost no more. */
const MOST_COUNTED = 1_000

export const home = definePage({
  path: '',
  navigation: 'Home',
  async read(visit) {
    const { context, account, now, wall } = visit
    const { database, refusedKeys } = context
    const fails = await countFails(context, account)
    const most = keptOf(account.parent !== null)
    const [newest, traffic, attention, counts] = await Promise.all([
      newestOf(visit),
      readTraffic(database, account.room, { wall, most }),
      readAttention(visit, fails),
      countStatuses(database, account, { now, most: MOST_COUNTED + 1 }),
    ])
    const isEmpty = !newest.exchange_id && !newest.payment
    return { isEmpty, traffic, attention, counts, fails, refusedKeys: refusedKeys() }
  },
  show: (visit, { isEmpty, traffic, attention, counts, refusedKeys }) =>
    html`${!visit.hasEnded && (isEmpty ? firstSteps(visit) : buttons(visit))}
<h2 class="govuk-heading-m">Last ${MINUTES} minutes</h2>
${trafficPart(traffic)}
${refusedKeysPart(refusedKeys)}
<h2 class="govuk-heading-m">Needs attention</h2>
${attentionPart(visit, attention)}
<h2 class="govuk-heading-m">Payments now</h2>
${countsPart(visit, counts)}
<h2 class="govuk-heading-m">Your service</h2>
${ui.paragraph(html`Base URL of the API: ${ui.copied('Base URL', visit.addresses.api)}`)}
${ui.paragraph(html`Behaviour: ${visit.account.behaviour}. This account ${behaviourMeanings[visit.account.behaviour]}.${visit.account.parent === null && html` ${ui.link(`${visit.root}accounts`, 'Make a test account with the other')}`}`)}
${ui.paragraph(ui.link(`${visit.site}/docs`, 'API documentation'))}`,
  fails: data => data.fails,
  live: async visit => {
    const { exchange_id, payment } = await newestOf(visit)
    return { version: [exchange_id, payment?.payment_id, payment?.version] }
  },
})

/** The newest exchange and the newest payment. Each change of the page comes with a change of one of the two. */
async function newestOf({ context: { database }, account, now }: AccountVisit) {
  const { room } = account
  const [exchange_id, [payment]] = await Promise.all([
    newestId(database, room),
    findPayments(database, { account, now, filter: {} }, {}, { limit: 1, order: 'newest' }),
  ])
  return { exchange_id, payment }
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
<li>${ui.link(`${root}webhooks/new`, 'Register a webhook')}, so that your service is told what becomes of payments. Each message and its response are listed here.</li>
<li>Send requests from your own service, to the base URL below and with the key of this account. Each of them is listed here, with its response.</li>
</ol>`

const countsPart = ({ root, account }: AccountVisit, counts: Map<Status, number>): Html =>
  html`<ul class="govuk-list farthing-counts">
${[...counts].map(
  ([status, found]) =>
    html`<li>${ui.statusTag(status)} ${ui.link(
      `${root}payments?status=${status}`,
      html`${found > MOST_COUNTED ? `more than ${inDigits(MOST_COUNTED)}` : inDigits(found)}<span class="govuk-visually-hidden"> ${status}</span>`,
    )}</li>
`,
)}</ul>
${ui.paragraph(html`Those of the last ${daysKept(account.behaviour)} days. ${ui.link(`${root}payments`, 'All payments')}`)}`

const MOST_LINES = 5
/** The most webhooks whose failed messages are read, and the most such messages of each. */
const MOST_WEBHOOKS = 20
const MOST_FAILED = 50

/** One matter that needs attention. The buttons in `help` lead to a page that helps, or do something about it. */
type Line = { text: Html; help: Help[] }
/** `posts` has the hidden fields of a form; without `posts` the button is a link. */
type Help = { text: string; href: string; posts?: Record<string, string> }

async function readAttention(visit: AccountVisit, fails: Fails) {
  const [failed, refused] = await Promise.all([failedLines(visit), refusedLines(visit)])
  const checked = checkLines(visit, fails)
  const lines = [...failed, ...checked, ...refused.lines].slice(0, MOST_LINES)
  return { lines, more: failed.length + checked.length + refused.total - lines.length }
}

const attentionPart = (
  visit: AccountVisit,
  { lines, more }: Awaited<ReturnType<typeof readAttention>>,
): Html =>
  lines.length === 0
    ? ui.paragraph('Nothing.')
    : html`<ul class="farthing-attention" role="list">
${lines.map(
  ({ text, help }, i) => html`<li>${ui.paragraph(text)}
<div class="govuk-button-group">${help.map((part, nth) => helpPart(visit, part, `help-${i}-${nth}`))}</div></li>
`,
)}</ul>
${more > 0 && ui.paragraph(html`And ${more} more: ${ui.link(`${visit.root}requests?show=refused`, 'all refused requests')}, ${ui.link(`${visit.root}deliveries?status=FAILED`, 'all failed messages')}.`)}`

const helpPart = ({ account, hasEnded }: AccountVisit, { text, href, posts }: Help, id: string) => {
  if (!posts) return buttonLink(id, text, href, { secondary: true })
  const fields = Object.entries(posts).map(([name, value]) => ui.hidden(name, value))
  return !hasEnded && ui.postForm(account, href, [fields, button({ id, text, secondary: true })])
}

/** A line for each webhook and each result with which its messages failed, for good or so far. */
async function failedLines({ context, account, now, wall, root }: AccountVisit): Promise<Line[]> {
  const { database } = context
  const webhooks = (await activeWebhooks(database, account.room)).slice(-MOST_WEBHOOKS)
  // Of a message that fails now, the change was so long ago.
  const { delays } = attempts[account.behaviour]
  const since = delays.reduce((at, delay) => at - delay, now - DAY)
  const failures = await newestFailures(database, webhooks, { since, limit: MOST_FAILED })
  const isSending = isRunning(await findResend(database, account.room), wall)
  return webhooks.flatMap(webhook => {
    const { webhook_id } = webhook
    const own = failures.filter(failure => failure.webhook_id === webhook_id)
    const byEnding = Map.groupBy(own, ({ status, last }) => `${status} ${last.result}`)
    const again = isSending
      ? { text: 'See what is sent again', href: `${root}deliveries` }
      : {
          text: 'Send all failed again',
          href: `${root}deliveries/resend`,
          posts: { webhook: webhook_id },
        }
    return [...byEnding.values()].flatMap(([newest, ...others]): Line[] => {
      if (!newest) return []
      const { message_id, status, last } = newest
      const isOver = status === 'FAILED'
      const count = others.length + 1
      const message = `${root}messages/${message_id}`
      const name = ui.link(
        `${root}webhooks/${webhook_id}?delivery=${status}`,
        ui.untrusted(webhookTitle(webhook)),
      )
      const first = isSignatureRefusal(last.status_code)
        ? {
            text: `Ask the receiver (at most ${MOST_COPIES} copies)`,
            href: `${message}/ask`,
            posts: {},
          }
        : { text: 'Why it failed', href: message }
      return [
        {
          text: html`${count}${isOver && count >= MOST_FAILED && ' or more'} ${count === 1 ? 'message' : 'messages'} to ${name} failed${!isOver && ' so far'}, the newest at ${ui.briefTime(last.at, now)}: ${ui.untrusted(last.result)}`,
          help: isOver ? [first, again] : [first],
        },
      ]
    })
  })
}

function checkLines({ root, now }: AccountVisit, { fails, at }: Fails): Line[] {
  if (fails === 0) return []
  const text = html`${ui.counted(fails, 'thing')} would break in production${at !== undefined && html`, counted at ${ui.briefTime(at, now)}`}`
  return [{ text, help: [{ text: 'Show the check', href: `${root}check` }] }]
}

/** A line for each of the newest groups of refused requests that are alike, and the number of all groups. */
async function refusedLines(visit: AccountVisit) {
  const { context, now, wall, root } = visit
  const since = firstMinute(wall)
  const { groups, total } = await readRefusals(visit, { most: MOST_LINES, since })
  const lines = groups.flatMap((group): Line[] => {
    const { operation, found, exchange } = group
    if (!exchange) return []
    const why = refusalText(exchange) ?? `${exchange.status ?? 'no response'}`
    const [what, which] =
      found === 1
        ? [requestLine(exchange), '']
        : [`${inDigits(found)} × ${context.summaries.get(operation) ?? operation}`, 'the newest, ']
    return [
      {
        text: html`${ui.untrusted(what)} refused, ${which}at ${ui.briefTime(exchange.at, now)}: ${ui.untrusted(why)}`,
        help: [
          { text: 'Show the request', href: `${root}requests/${exchange.exchange_id}` },
          ...(found > 1 ? [{ text: 'Show all like it', href: root + addressOfGroup(group) }] : []),
        ],
      },
    ]
  })
  return { lines, total }
}

/** In units of the picture, which the browser scales to the room that it has. */
const WIDTH = 600
const HEIGHT = 120
const GAP = 6

const minuteOf = (ms: number): string => iso(ms).slice(11, 16)

function trafficPart({ minutes, keptSince }: Traffic): Html {
  const sum = (count: 'requests' | 'refused' | 'unkept') =>
    minutes.reduce((all, minute) => all + minute[count], 0)
  const [requests, refused, unkept] = [sum('requests'), sum('refused'), sum('unkept')]
  const text = `${ui.counted(requests, 'request')} to /v1, ${inDigits(refused)} of them refused`
  return html`${ui.paragraph(html`<strong id="requests-made">${inDigits(requests)}</strong> ${requests === 1 ? 'request' : 'requests'} to /v1, <strong id="requests-refused">${inDigits(refused)}</strong> of them refused.`)}
${unkept > 0 && ui.paragraph(`${inDigits(unkept)} more requests, page steps and attempts were only counted, because there were too many to record.`)}
${keptSince !== undefined && ui.paragraph(`The record is full, so it begins at ${iso(keptSince)}: what came before is not counted here.`)}
${bars(minutes, text)}
${details('The bars as a table', table(minutes))}`
}

function bars(minutes: readonly Minute[], text: string): Html {
  const most = Math.max(0, ...minutes.map(({ requests }) => requests))
  const from = minuteOf(minutes[0]?.from ?? 0)
  const to = minuteOf((minutes.at(-1)?.from ?? 0) + MINUTE)
  return html`<svg class="farthing-bars" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="bars-title" xmlns="http://www.w3.org/2000/svg">
<title id="bars-title">Requests a minute from ${from} to ${to} UTC: ${text}</title>
<path class="farthing-bars__line" d="M0 ${HEIGHT - 0.5}H${WIDTH}"></path>
${minutes.map((minute, i) => bar(minute, i, most))}</svg>
<p class="farthing-bars__ends"><span>${from}</span> <span>${to} UTC</span></p>
<p class="farthing-bars__key"><span class="farthing-bars__answered">answered</span> <span class="farthing-bars__refused">refused</span> ${most > 0 && html`<span>at most ${inDigits(most)} a minute</span>`}</p>`
}

/** The part of the refused requests is at the foot and narrower, so that people can tell it apart without colour. */
function bar({ from, requests, refused }: Minute, position: number, most: number): Html {
  const width = WIDTH / MINUTES
  const height = (count: number) => (count === 0 ? 0 : Math.max(3, (count / most) * (HEIGHT - 4)))
  const [all, foot] = [height(requests), height(refused)]
  const x = position * width + GAP / 2
  const shape = (className: string, left: number, wide: number, high: number) =>
    html`<rect class="${className}" x="${round(left)}" y="${round(HEIGHT - high)}" width="${round(wide)}" height="${round(high)}"></rect>`
  return html`<g><title>${minuteOf(from)}: ${inDigits(requests)}, refused ${inDigits(refused)}</title>${
    requests > 0 && shape('farthing-bars__all', x, width - GAP, all)
  }${refused > 0 && shape('farthing-bars__foot', x + 6, width - GAP - 12, foot)}</g>
`
}

const round = (length: number): string => String(Math.round(length * 10) / 10)

const table = (minutes: readonly Minute[]): Html =>
  ui.wideTable(minutes.toReversed(), {
    caption: 'Requests to /v1 by the minute, newest first',
    columns: {
      'Minute (UTC)': ({ from }) => minuteOf(from),
      Requests: ui.numeric(({ requests }) => inDigits(requests)),
      Refused: ui.numeric(({ refused }) => inDigits(refused)),
      'Only counted':
        minutes.some(({ unkept }) => unkept > 0) && ui.numeric(({ unkept }) => inDigits(unkept)),
    },
  })
