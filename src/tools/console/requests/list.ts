/** The page of requests: refusals in groups, then all requests, with gaps for requests that were only counted. */

import { RECORD_ROWS, RECORDED_BODY_BYTES } from '../../../core/budgets.ts'
import { timeOf } from '../../../core/ids.ts'
import { inDigits } from '../../../core/money.ts'
import type { Database } from '../../../core/ports.ts'
import { MINUTE } from '../../../core/time.ts'
import type { Range } from '../../../platform/database/select.ts'
import { tag } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { answerToWrong } from '../../explain/wrong-signature.ts'
import { type Bound, type Exchange, type Gap, together } from '../../record/exchange.ts'
import {
  byBeginning,
  countExchanges,
  type ExchangeFilter,
  findExchange,
  findExchanges,
  groupRefusals,
  newestId,
  type Refusals,
} from '../../record/store.ts'
import { MINUTES } from '../../record/traffic-store.ts'
import { definePage, MOST_NEWER } from '../frame/define-page.ts'
import { agentOf, orderNote, refusalText, shortened } from '../frame/exchange.ts'
import {
  addressFrom,
  type CursorPage,
  dayFilter,
  type Filters,
  filterForm,
  isFiltered,
  isFirst,
  isId,
  linkOnly,
  oneOf,
  type PageVisit,
  pageLinks,
  readPage,
  spanIn,
} from '../frame/list.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, pageAddress } from '../frame/visit.ts'

const KINDS = ['api', 'page'] as const

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

/** The most milliseconds from the beginning of a request until it is recorded. */
const WRITTEN_LATER = 2_000

/** `status`, `code`, `field` and `told` come from the link of a group of refusals. */
const filters = {
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
  status: linkOnly,
  code: linkOnly,
  field: linkOnly,
  told: linkOnly,
} satisfies Filters
type Visit = PageVisit<typeof filters>

export const addressOfGroup = ({ operation, status, code, field, told }: Refusals): string =>
  pageAddress('requests', {
    show: 'refused',
    operation,
    status: `${status ?? NONE}`,
    code: code ?? NONE,
    field: field ?? NONE,
    told: told ?? NONE,
  })

function filterOf({ values, wall }: Visit): ExchangeFilter & { text?: string } {
  const { show, operation, payment, text, last, from, to, status, code, field, told } = values
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
    ...(status && { status: /^\d{3}$/.test(status) ? Number(status) : null }),
    ...(code && { code: orNone(code) }),
    ...(field && { field: orNone(field) }),
    ...(told && { told: orNone(told) }),
  }
}

/** The text for a list without results: the search, and the values that the fields in use understand. */
const noMatch = (visit: Visit): Html =>
  html`${ui.paragraph('There are no results for the filters you used.')}
${ui.paragraph(html`Searched: ${ui.joined(searched(visit).map(ui.untrusted))}, among the requests that are kept: those of the last 24 hours, at most 10,000 of an account (1,000 of a test account).`)}
${visit.values.payment && ui.paragraph('The field for the payment understands an identifier, and a whole reference in any case.')}
${visit.values.text && ui.paragraph(`The field for a text understands any part of an address or of a body as it was sent, in any case; of long bodies the first ${RECORDED_BODY_BYTES / 1024} KiB are kept.`)}`

function searched({ context, values }: Visit): string[] {
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

/** The newest groups of refusals, each with its newest request if kept, and the count of all. `since`: machine time. */
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

const refusalsPart = (
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
    Code: ({ code, status, exchange }) => code ?? statusText(exchange ?? { status }),
    Field: ({ field }) => field !== null && ui.unbroken(ui.code(field)),
    'How often': ui.numeric(({ found }) => inDigits(found)),
    Newest: ({ newest, exchange }) =>
      exchange
        ? ui.link(`${root}requests/${newest}`, ui.time(exchange.at))
        : ui.time(timeOf(newest)),
    'What the newest was told': ({ exchange }) =>
      ui.untrusted((exchange && refusalText(exchange)) ?? ''),
  },
})}
${total > groups.length && ui.paragraph(`The newest ${groups.length} of ${total} kinds are shown.`)}`

export const requests = definePage({
  path: 'requests',
  navigation: 'Requests',
  filters,
  async read(visit) {
    const { context, values, cursor, account } = visit
    const { database } = context
    const filter = filterOf(visit)
    const page = await readPage<Exchange>(cursor, 'exchange_id', (range, part) =>
      findExchanges(database, account.room, { ...filter, ...range }, part),
    )
    const [oldest] = await findExchanges(database, account.room, {}, { limit: 1, order: 'oldest' })
    return {
      page,
      gaps: isFiltered(visit) ? [] : await gapsAmong(database, account.room, page, cursor),
      refusals: isFirst(visit) && !values.code && (await readRefusals(visit)),
      oldest,
      refusedKeys: context.refusedKeys(),
    }
  },
  title: visit => ['Requests', ...searched(visit)].join(', '),
  show(visit, { page, gaps, refusals, oldest, refusedKeys }) {
    const operation = [...visit.context.summaries]
    const isEmpty = page.items.length + gaps.length === 0
    return html`${refusals && refusalsPart(visit, refusals)}
${
  isEmpty && !isFiltered(visit)
    ? ui.emptyState(
        visit,
        'No request of the last 24 hours is recorded',
        html`send one to ${ui.code(visit.addresses.api)} with the key of this account`,
      )
    : html`<h2 class="govuk-heading-m">${isFiltered(visit) ? ui.untrusted(searched(visit).join(', ')) : 'All requests'}</h2>
${filterForm(visit, { operation })}
${(visit.account.clock_offset !== 0 || visit.account.frozen_at !== null) && ui.paragraph('From and To are on the machine’s clock.')}
${!isFiltered(visit) && ui.paragraph(ui.link(`${visit.here}?show=refused`, 'Only refused'))}
${isEmpty ? noMatch(visit) : list(visit, page, gaps)}
${oldest && ui.paragraph(html`The record of this account begins at ${ui.time(oldest.at)}.`)}`
}
${refusedKeysPart(refusedKeys)}`
  },
  /**
   * A recorded request never changes, so the list and the groups change only with a newer request. `newest` is the
   * newest exchange of any kind, so that every later exchange counts as newer than the list.
   */
  async live(visit, since) {
    const { database } = visit.context
    const { room } = visit.account
    if (!isFirst(visit)) return { version: 'older' }
    // A request that drops out of the last minutes is no change.
    const { text, recordedSince, ...others } = filterOf(visit)
    const kinds = isFiltered(visit) ? KINDS : [...KINDS, 'gap' as const]
    const after = { ...others, after: since }
    const part = { limit: MOST_NEWER, order: 'oldest' } as const
    const [newest, listed, refused, newer] = await Promise.all([
      newestId(database, room),
      // The text is searched for in newer exchanges only.
      text === undefined && newestId(database, room, { ...others, kinds }),
      newestId(database, room, { kinds: KINDS, refused: true }),
      text === undefined
        ? countExchanges(database, room, after, MOST_NEWER)
        : findExchanges(database, room, { ...after, text }, part).then(({ length }) => length),
    ])
    return { version: [listed, refused], newest, newer }
  },
})

/** Counts the requests with a wrong key. They belong to no account, so the console shows them nowhere else. */
export const refusedKeysPart = (count: number): Html | false =>
  count > 0 &&
  html`<p class="govuk-body" id="refused-keys">In the last ${MINUTES} minutes ${ui.counted(count, 'request')} had no key or one that is not known here.</p>`

/** The gaps among the requests of a page, newest first. A gap between two pages is shown on the older page. */
function gapsAmong(
  database: Database,
  room: string,
  { items, newer, older }: CursorPage<Exchange>,
  { before }: Range,
): Promise<Exchange[]> {
  const last = items.at(-1)?.exchange_id
  const until = newer ? (before ?? items[0]?.exchange_id) : undefined
  const filter: ExchangeFilter = { kinds: ['gap'], before: until, after: older && last }
  return findExchanges(database, room, filter, { limit: RECORD_ROWS, order: 'newest' })
}

const list = (visit: Visit, page: CursorPage<Exchange>, gaps: Exchange[]): Html =>
  html`${orderNote(page.items)}
${ui.wideTable(inOrder([...page.items, ...gaps]), {
  caption: 'Requests, newest first',
  at: ({ at }) => at,
  noteOf: ({ gap }) => gap && gapNote(gap),
  columns: {
    Time: ({ at }) => ui.timeOfDay(at),
    Request: { cell: exchange => requestLink(visit, exchange), leads: true, wide: true },
    Status: ui.leading(statusPart),
    Took: ui.numeric(exchange => ui.unbroken(tookText(exchange))),
    Payment: ({ payment_id, reference }) =>
      payment_id !== null &&
      ui.link(`${visit.root}payments/${payment_id}`, ui.paymentPart(payment_id, reference)),
  },
})}
${pageLinks(visit, 'Requests', page)}`

/** Sorts the rows by the time at which each began, newest first. Adjacent gaps become one. */
function inOrder(exchanges: Exchange[]): Exchange[] {
  const rows: Exchange[] = []
  for (const row of exchanges.sort(byBeginning).reverse()) {
    const last = rows.at(-1)
    if (row.gap && last?.gap) rows.splice(-1, 1, { ...last, gap: together(last.gap, row.gap) })
    else rows.push(row)
  }
  return rows
}

const REASONS: Record<Bound, string> = {
  account: 'more than 100 a second of this account, or 20 refusals',
  instance: 'more than 400 a second of all accounts, or 200 refusals',
  memory: 'too many waited to be written',
  database: 'the record could not be written, or the disk has too little room left',
  damage: 'the record is damaged',
}

function gapNote({ count, refused, from, to, bounds }: Gap): Html {
  const reasons = bounds.toSorted().map(bound => REASONS[bound])
  return html`${ui.counted(count, 'request')} between ${ui.time(from)} and ${ui.time(to)} ${count === 1 ? 'was' : 'were'} not kept${refused > 0 && `, ${inDigits(refused)} of them refused`}: ${reasons.join('; ')}`
}

export const requestLine = ({ method, path, query }: Exchange): string =>
  shortened(`${method} ${path}${query && `?${query}`}`, 200)

export const tookText = ({ ms }: Exchange): string => `${inDigits(ms)} ms`

function requestLink(visit: Visit, exchange: Exchange): Html {
  const address = addressFrom(visit, `${visit.root}requests/${exchange.exchange_id}`)
  return html`${ui.link(address, ui.untrusted(requestLine(exchange)))}${exchange.kind === 'page' && html` (${agentOf(exchange)})`}`
}

export function statusPart(exchange: Exchange): string | Html {
  const text = statusText(exchange)
  const answer = answerToWrong(exchange)
  if (answer)
    return html`${tag(text, answer === 'accepted' ? 'red' : 'green')} ${answer} a wrong signature`
  if (!exchange.refused) return text
  const description = refusalText(exchange)
  return html`${tag(text, 'red')} ${exchange.code !== text && exchange.code} ${description === undefined ? exchange.field && ui.code(exchange.field) : ui.untrusted(description)}`
}

/** A plan may have ended the connection in place of the response. */
export const statusText = ({
  status,
  ended,
}: Pick<Exchange, 'status'> & Partial<Exchange>): string =>
  status === null || ended === 'reset' ? 'no response' : `${status}`
