/** The filters of the list of requests, and the refused requests in groups that are alike. */

import { RECORDED_BODY_BYTES } from '../../../core/budgets.ts'
import { inDigits } from '../../../core/money.ts'
import { MINUTE } from '../../../core/time.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import {
  type ExchangeFilter,
  findExchange,
  groupRefusals,
  type Refusals,
} from '../../record/store.ts'
import { refusalText } from '../frame/exchange.ts'
import {
  dayFilter,
  type Filters,
  isId,
  linkOnly,
  oneOf,
  type PageVisit,
  spanIn,
} from '../frame/list.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, pageAddress } from '../frame/visit.ts'

export const KINDS = ['api', 'page'] as const

const NONE = '-'

const shows = {
  refused: ['Refused (4xx and 5xx)', { refused: true }],
  '2xx': ['2xx', { class: 2 }],
  '4xx': ['4xx', { refused: true, class: 4 }],
  '5xx': ['5xx', { refused: true, class: 5 }],
  'in-production': ['Different in production', { broken: true }],
} as const satisfies Record<string, [text: string, ExchangeFilter]>
type Show = keyof typeof shows

const LAST_MINUTES = '5'

/** Milliseconds within which a request is written after it began. */
const WRITTEN_LATER = 2_000

/** `code`, `field` and `told` are those of a group of refusals. */
export const filters = {
  show: oneOf('Status', Object.keys(shows) as Show[], { nameOf: show => shows[show][0] }),
  operation: { label: 'Operation' },
  payment: { label: 'Payment: ID or whole reference' },
  text: { label: 'Text in the address or a body', type: 'search', isSlow: true },
  last: oneOf('When', [LAST_MINUTES], {
    all: 'The last 24 hours',
    nameOf: minutes => `The last ${minutes} minutes`,
  }),
  from: dayFilter('From (UTC)'),
  to: dayFilter('To (UTC)'),
  code: linkOnly,
  field: linkOnly,
  told: linkOnly,
} satisfies Filters
export type Visit = PageVisit<typeof filters>

export const addressOfGroup = ({ operation, code, field, told }: Refusals): string =>
  pageAddress('requests', {
    show: 'refused',
    operation,
    code: code ?? NONE,
    field: field ?? NONE,
    told: told ?? NONE,
  })

export function filterOf({ values, wall }: Visit): ExchangeFilter & { text?: string } {
  const { show, operation, payment, text, last, from, to, code, field, told } = values
  const [begin, end] = [spanIn(from, wall)?.begin, spanIn(to, wall)?.end]
  const orNone = (value: string) => (value === NONE ? null : value)
  return {
    kinds: KINDS,
    ...(show && shows[show][1]),
    ...(operation && { operation }),
    ...(payment &&
      (isId(payment) ? { payment_id: payment.toLowerCase() } : { reference: payment })),
    ...(text && { text }),
    ...(last && { recordedSince: wall - Number(last) * MINUTE }),
    ...(begin !== undefined && { recordedSince: begin }),
    ...(end !== undefined && { recordedUntil: end + WRITTEN_LATER }),
    ...(code && { code: orNone(code) }),
    ...(field && { field: orNone(field) }),
    ...(told && { told: orNone(told) }),
  }
}

/** No results: what was searched, and what the fields that were used understand. */
export const noMatch = (visit: Visit): Html =>
  html`${ui.paragraph('There are no results for the filters you used.')}
${ui.paragraph(html`Searched: ${ui.joined(searched(visit).map(ui.untrusted))}, among the requests that are kept: those of the last 24 hours, at most 10,000 of an account (1,000 of a test account).`)}
${visit.values.payment && ui.paragraph('The field for the payment understands an identifier, and a whole reference in any case.')}
${visit.values.text && ui.paragraph(`The field for a text understands any part of an address or of a body as it was sent, in any case; of long bodies the first ${RECORDED_BODY_BYTES / 1024} KiB are kept.`)}`

export function searched({ context, values }: Visit): string[] {
  const { show, operation, payment, text, last, from, to, code, field } = values
  const words = [
    show && shows[show][0],
    context.summaries.get(operation) ?? operation,
    code === NONE ? '' : code,
    field && field !== NONE ? `about ${field}` : '',
    payment && `of the payment ${payment}`,
    text && `with the text ${text}`,
    last && `the last ${last} minutes`,
    from && `from ${from}`,
    to && `to ${to}`,
  ]
  return words.filter(part => part !== '')
}

/** The newest groups since a time of the machine, each with its newest request if that is kept, and how many there are. */
export async function readRefusals(
  { context: { database }, account: { room } }: AccountVisit,
  { most = 20, since }: { most?: number; since?: number } = {},
) {
  const all = await groupRefusals(database, room, since)
  const groups = all
    .slice(0, most)
    .map(async group => ({ ...group, exchange: await findExchange(database, room, group.newest) }))
  return { groups: await Promise.all(groups), total: all.length }
}

export const refusalsPart = (
  { root, context }: AccountVisit,
  { groups, total }: Awaited<ReturnType<typeof readRefusals>>,
): Html | false =>
  total > 0 &&
  html`<h2 class="govuk-heading-m" id="refusals">Refusals</h2>
${ui.wideTable(groups, {
  caption: 'Refused requests of the last 24 hours that are alike',
  columns: {
    Operation: group =>
      ui.link(
        root + addressOfGroup(group),
        context.summaries.get(group.operation) ?? group.operation,
      ),
    Code: group => group.code ?? `${group.status}`,
    Field: ({ field }) => field !== null && ui.unbroken(ui.code(field)),
    'How often': ui.numeric(({ found }) => inDigits(found)),
    Newest: ({ newest, exchange }) =>
      exchange ? ui.link(`${root}requests/${newest}`, ui.time(exchange.at)) : ui.timeIn(newest),
    'What the newest was told': ({ exchange }) =>
      ui.untrusted((exchange && refusalText(exchange)) ?? ''),
  },
})}
${total > groups.length && ui.paragraph(`The newest ${groups.length} of ${total} kinds are shown.`)}`
