/** Parts of several pages. Untrusted text is in `bdi`: right-to-left characters do not reorder the text after it. */
import type { Account } from '../../../core/account.ts'
import { asTypedHere } from '../../../core/invocation.ts'
import { inDigits, inPounds } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import type { MessageStatus } from '../../../pay/webhooks/webhook.ts'
import {
  type Column,
  type SummaryRow,
  type Table,
  type TagColour,
  table,
  tag,
} from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'

export const link = (href: string, text: Part): Html =>
  html`<a class="govuk-link" href="${href}">${text}</a>`

export const heading = (text: Part): Html => html`<h1 class="govuk-heading-l">${text}</h1>`

export const code = (text: Part): Html => html`<code class="farthing-code">${text}</code>`

/** A command of Farthing, as it must be typed where the service was started. */
export const command = (line: string): Html => code(asTypedHere(line))

/** Code with a button to copy it, where scripts run. */
export const copied = (name: string, text: string): Html =>
  html`<code class="farthing-code" data-copy="${name}">${text}</code>`

export const nameOfKey = (key_id: string): string =>
  key_id.replace(/^configured$/, 'FARTHING_API_KEY').replace(/^configured/, 'FARTHING_API_KEYS ')

/** Text that somebody else wrote: it wraps anywhere, and its direction has no effect on the text around it. */
export const untrusted = (text: string): Html =>
  html`<bdi class="farthing-text">${text.split(OPTION).map((part, i) => (i % 2 ? unbroken(part) : part))}</bdi>`

/** An option of a command, which a browser would break after its hyphens. */
const OPTION = /(?<=\s)(--[a-z-]{0,20})/

/** A payment by its reference and the unbroken end of its identifier, or if it is gone by the whole identifier. */
export const paymentPart = (payment_id: string, reference?: string): Html =>
  reference === undefined
    ? untrusted(payment_id)
    : html`${untrusted(reference)} ${unbroken(`…${payment_id.slice(-6)}`)}`

/** Says how to switch control on, which a browser cannot do. `what` names the actions that control would allow. */
export const controlIsOff = (what: string): Html =>
  paragraph(
    html`${what}, once control is on. Ask whoever runs Farthing: the setting ${code('FARTHING_CONTROL=true')} switches it on at the next start.`,
  )

/** The parts that are not empty, with the separator between them. */
export const joined = (parts: readonly Part[], separator: Part = ', '): Html =>
  html`${parts.filter(Boolean).map((part, i) => html`${i > 0 && separator}${part}`)}`

/** Such as `1 request` or `1,234 requests`. */
export const counted = (count: number, noun: string): string =>
  `${inDigits(count)} ${noun}${count === 1 ? '' : 's'}`

/** The text of an empty list: one sentence, with the one thing to do if there is one, as a link if `path` is set. */
export function emptyState(
  { hasEnded, root }: { hasEnded?: boolean | undefined; root: string },
  sentence: string,
  toDo: Part,
  path?: string,
): Html {
  if (hasEnded || !toDo) return paragraph(`${sentence}.`)
  return paragraph(html`${sentence}: ${path === undefined ? toDo : link(root + path, toDo)}.`)
}

export const paragraph = (content: Part): Html => html`<p class="govuk-body">${content}</p>`

/** `16:15` for a time on the day of `now`, otherwise `2026-09-14 16:15`; with `seconds` also the seconds. */
export function shortTime(at: number, now: number, seconds?: 'seconds'): string {
  const [day = '', time = ''] = iso(at).split('T')
  const clock = time.slice(0, seconds ? 8 : 5)
  return iso(now).startsWith(day) ? clock : `${day} ${clock}`
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS =
  'January February March April May June July August September October November December'.split(' ')

/** Such as `Monday 14 September 2026`. Without Intl, which blocks the event loop for 50 ms to print its first day. */
export function dayName(at: number): string {
  const day = new Date(at)
  return `${DAYS[day.getUTCDay()]} ${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`
}

/** `2026-09-14 08:20:31`, in UTC. In tables on phones the date has a line of its own. */
export const time = (ms: number): Html => {
  const [day, clock] = partsOfTime(ms)
  return timeAs(ms, html`<span>${day} </span>${clock}`)
}

/** A time in a sentence: the date only if it is not that of `now`. */
export const briefTime = (ms: number, now: number): Html =>
  timeAs(ms, shortTime(ms, now, 'seconds'))

export const timeOfDay = (ms: number): Html => timeAs(ms, partsOfTime(ms)[1])

/** The day, and the time of day without its milliseconds, which are in the title. */
const partsOfTime = (ms: number) => [iso(ms).slice(0, 10), iso(ms).slice(11, 19)] as const

const timeAs = (ms: number, text: Part, more?: Part): Html =>
  html`<time class="farthing-time" datetime="${iso(ms)}" title="${iso(ms)}"${more}>${text}</time>`

/** A time; the script adds how long ago it was. */
export const timeWithAge = (ms: number): Html =>
  timeAs(ms, partsOfTime(ms).join(' '), html` data-age`)

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** The header that names the account of a page to the service. */
export const ACCOUNT_HEADER = 'farthing-account'

/** The hidden field that names the account of a form. */
export const ACCOUNT_FIELD = 'account'

/**
 * A form that changes something. It names the account of its page, so that otherAccount can refuse another one. The
 * account is undefined where any account will do.
 */
export const postForm = (
  account: Account | undefined,
  action: string,
  content: Part,
  className?: string,
): Html => html`<form${className && html` class="${className}"`} method="post" action="${action}">
${account && html`${hidden(ACCOUNT_FIELD, account.name)}\n`}${content}
</form>`

/** Bytes or text, unchanged, with a button to copy them where scripts run. */
export const listing = (label: string, text: string): Html =>
  html`<pre class="farthing-listing" role="region" aria-label="${label}" data-copy>\n${text}</pre>`

export type SummaryValues = Readonly<Record<string, string | Html | false | undefined>>

/** Rows of a summary list, without empty ones. The element id of a row is the prefix and then its key. */
export const summaryRows = (prefix: string, values: SummaryValues): SummaryRow[] =>
  Object.entries(values).flatMap(([key, value]) => {
    const id = [prefix, ...key.toLowerCase().split(' ')].filter(Boolean).join('-')
    return value ? [{ id, key, value }] : []
  })

type Cell<Item> = (item: Item) => Part
type LookOfColumn<Item> = Omit<Column, 'text'> & { cell: Cell<Item> }

/** The cells of an item, by the headings of their columns. A column that is false or undefined is left out. */
export type Columns<Item> = Readonly<
  Record<string, Cell<Item> | LookOfColumn<Item> | false | undefined>
>

export const leading = <Item>(cell: Cell<Item>): LookOfColumn<Item> => ({ cell, leads: true })

export const numeric = <Item>(cell: Cell<Item>): LookOfColumn<Item> => ({ cell, numeric: true })

type WideTable<Item> = Pick<Table, 'caption' | 'showsCaption'> & {
  columns: Columns<Item>
  /** The time of an item, where times sort the items. Each day then has a heading. */
  at?: (item: Item) => number
  /** A note that replaces the cells of an item. */
  noteOf?: (item: Item) => Part
}

/** A table that scrolls sideways where it is too wide, and has a card for each row on a phone. */
export function wideTable<Item>(
  items: readonly Item[],
  { caption, showsCaption, columns, at, noteOf }: WideTable<Item>,
): Html {
  const all = Object.entries(columns).flatMap(([text, column]) =>
    column ? { text, ...(typeof column === 'function' ? { cell: column } : column) } : [],
  )
  let day = ''
  const rows = items.flatMap((item): Table['rows'] => {
    const note = noteOf?.(item)
    const row = note ? { note } : all.map(({ cell }) => cell(item))
    const itsDay = at ? iso(at(item)).slice(0, 10) : ''
    if (itsDay === day) return [row]
    day = itsDay
    return [{ note: html`<strong>${dayName(Date.parse(day))}</strong>` }, row]
  })
  return html`<div class="farthing-scroll" tabindex="0" role="region" aria-label="${caption}" data-list>
${table({ caption, showsCaption, columns: all, rows })}
</div>`
}

const statusColours: Record<string, TagColour> = {
  created: 'grey',
  started: 'blue',
  submitted: 'blue',
  capturable: 'orange',
  success: 'green',
  failed: 'red',
  error: 'red',
  cancelled: 'grey',
}

/** The tag of a payment's status. The word alone says as much as the colour. */
export const statusTag = (status: string): Html => tag(status, statusColours[status])

/** Such as `£5.50 of £14.50 refunded`. */
export function refundedText({ given, refunded_amount: sum }: Payment, how = 'refunded') {
  return (
    sum > 0 && `${inPounds(sum)}${sum < given.amount ? ` of ${inPounds(given.amount)}` : ''} ${how}`
  )
}

/** `sent again`: the delivery failed, and the receiver has accepted the message since, when it was sent by hand. */
export type ShownDelivery = MessageStatus | 'sent again'

/** For each status: its name on pages, the colour of its tag, and the sign and look of its mark. */
const deliveries: Record<
  ShownDelivery,
  [name: string, colour: TagColour, sign: string, className: string]
> = {
  FAILED: ['failed', 'red', '✗', 'bad'],
  'sent again': ['failed, accepted since', 'orange', '↻', 'good'],
  PENDING: ['pending', 'blue', '…', 'open'],
  SUCCESSFUL: ['delivered', 'green', '✓', 'good'],
  'not listening': ['not listening', 'grey', '–', 'open'],
}

/** The names of the statuses on pages, in the order in which pages list their counts. */
export const deliveryNames = new Map(
  Object.entries(deliveries).map(([status, [name]]) => [status, name]),
)

/** A delivery status as pages and the API call it, such as `failed (FAILED)`. */
export const deliveryName = (status: MessageStatus): string =>
  status === 'not listening' ? status : `${deliveryNames.get(status)} (${status})`

export function deliveryTag(status: ShownDelivery): Html {
  const [name, colour] = deliveries[status]
  return tag(name, colour)
}

export const unbroken = (part: Part): Html => html`<span class="farthing-nowrap">${part}</span>`

export type Mark = {
  status: ShownDelivery
  /** Screen readers read it out, and the pointer shows it. */
  text: string
  /** Screen readers read it out after `text`. Somebody else may have written it. */
  detail: string
  href?: string | undefined
}

export const marksRow = (label: string, marks: readonly Mark[]): Html =>
  html`<ol class="farthing-marks" role="list" aria-label="${label}">
${marks.map(({ status, text, detail, href }) => {
  const [, , sign, className] = deliveries[status]
  const content = html`<span aria-hidden="true">${sign}</span><bdi class="govuk-visually-hidden">${text}: ${detail}</bdi>`
  const look = `farthing-mark farthing-mark--${className}`
  return href === undefined
    ? html`<li class="${look}" title="${text}">${content}</li>\n`
    : html`<li><a class="${look}" title="${text}" href="${href}">${content}</a></li>\n`
})}</ol>`
