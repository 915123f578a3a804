/** The first page of the console: whether all is well, and where to go from there. */

import type { Status } from '../../../pay/payments/payment.ts'
import { buttonGroup, buttonLink } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { countStatuses, listPayments } from '../../lists/payments-store.ts'
import { keptOf } from '../../record/space.ts'
import { findExchanges } from '../../record/store.ts'
import { MINUTES, readTraffic } from '../../record/traffic-store.ts'
import type { PageVisit } from '../frame/define-page.ts'
import { definePage } from '../frame/define-page.ts'
import { liveNotice } from '../frame/live.ts'
import type { AccountVisit } from '../frame/page.ts'
import { link, paragraph, statusTag } from '../frame/parts.ts'
import { attentionPart, readAttention } from './attention.ts'
import { trafficPart } from './traffic.ts'

/** Payments of one status that are counted, so that a million of them cost no more than these. */
const MOST_COUNTED = 1_000

export const home = definePage({
  path: '',
  section: 'home',
  title: 'Home',
  read,
  show,
  live: async (context, visit) => {
    const { exchange, payment } = await newestOf(context, visit)
    return { version: [exchange?.exchange_id, payment?.payment_id, payment?.version] }
  },
})

/** The newest exchange and the newest payment: what changes anything on the page is one of them. */
async function newestOf({ database }: ToolContext, { account, now }: AccountVisit) {
  const newest = { limit: 1, order: 'newest' } as const
  const [[exchange], [payment]] = await Promise.all([
    findExchanges(database, account.room, {}, newest),
    listPayments(database, account.room, {}, { now, ...newest }),
  ])
  return { exchange, payment }
}

async function read(context: ToolContext, visit: AccountVisit) {
  const { database, time } = context
  const { account, now } = visit
  const [newest, traffic, attention, counts] = await Promise.all([
    newestOf(context, visit),
    readTraffic(database, account.room, {
      wall: time.wall(),
      most: keptOf(account.parent !== null),
    }),
    readAttention(context, visit),
    countStatuses(database, account.room, { now, most: MOST_COUNTED + 1 }),
  ])
  return { isEmpty: !newest.exchange && !newest.payment, traffic, attention, counts }
}

function show(
  visit: PageVisit,
  { isEmpty, traffic, attention, counts }: Awaited<ReturnType<typeof read>>,
): Html {
  return html`<h1 class="govuk-heading-l">Home</h1>
${liveNotice(visit)}
${!visit.hasEnded && (isEmpty ? firstSteps(visit) : buttons(visit))}
<h2 class="govuk-heading-m">Last ${MINUTES} minutes</h2>
${trafficPart(traffic)}
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

/** No payment stays submitted. */
const countsPart = ({ root }: AccountVisit, counts: Map<Status, number>): Html =>
  html`<ul class="govuk-list farthing-counts">
${[...counts]
  .filter(([status]) => status !== 'submitted')
  .map(
    ([status, found]) =>
      html`<li>${statusTag(status)} ${link(
        `${root}payments?status=${status}`,
        html`${found > MOST_COUNTED ? `more than ${MOST_COUNTED.toLocaleString('en-GB')}` : found.toLocaleString('en-GB')}<span class="govuk-visually-hidden"> ${status}</span>`,
      )}</li>
`,
  )}</ul>
${paragraph(html`Those of the last 7 days. ${link(`${root}payments`, 'All payments')}`)}`

const addressPart = ({ addresses, site }: AccountVisit): Html =>
  html`<p class="govuk-body">Base URL of the API: <code class="farthing-code" data-copy="Base URL">${addresses.api}</code></p>
${paragraph(link(`${site}/docs`, 'API documentation'))}`
