/** The clock of the account: where it stands, and the forms that move it. */

import type { Account } from '../../../core/account.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../core/time.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button, buttonGroup, details } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { resetAccount } from '../../steer/accounts.ts'
import { clockMove, moveClock } from '../../steer/clock.ts'
import { readFields } from '../../steer/fields.ts'
import { actionForm } from '../frame/define-page.ts'
import { type FormFields, fieldParts, submit, type Typed } from '../frame/form.ts'
import { type PageVisit, spanIn } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'

export function clockText({ clock_offset, frozen_at }: Account): string {
  if (frozen_at !== null) return `stands still at ${ui.shortTime(frozen_at, 0, 'seconds')}`
  if (clock_offset === 0) return 'that of the machine'
  return `${ageText(Math.abs(clock_offset))} ${clock_offset > 0 ? 'ahead of' : 'behind'} the machine`
}

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const

export function ageText(ms: number): string {
  const [unit, length] = UNITS.find(unit => ms >= unit[1]) ?? UNITS[3]
  return ui.counted(Math.floor(ms / length), unit)
}

const STEPS = { '5 seconds': 5 * SECOND, '2 hours': 2 * HOUR, '1 day': DAY, '7 days': 7 * DAY }

export function clockForms(visit: PageVisit, typed: Typed | undefined): Html | false {
  if (visit.hasEnded) return false
  const { account, now } = visit
  const steps = Object.entries(STEPS).map(([text, ms], i) => {
    const field = { name: 'advance', value: `${ms}` }
    return button({ id: `advance-${i}`, text, secondary: true, field })
  })
  const stop = { id: 'resume', text: 'Let it run on', field: { name: 'resume', value: 'true' } }
  return html`${ui.paragraph(html`It is ${ui.time(now)}${account.frozen_at !== null && ', and stays so'}. What falls due on the way is done: expiry, captures, refunds, messages that are sent again.`)}
${actionForm(
  visit,
  'clock',
  html`<p class="govuk-body" id="moves">Move it on by</p>
${buttonGroup([...steps, account.frozen_at !== null && button({ ...stop, secondary: true })])}`,
)}
${actionForm(
  visit,
  'clock',
  html`${fieldParts(typed, fields)}${button({ id: 'move', text: 'Move it there', secondary: true })}`,
  'farthing-filter',
)}
${details(
  'Back to now',
  html`${ui.paragraph('A clock only goes forward, so the account begins anew: its payments, agreements, webhooks and plans are deleted, and its clock is that of the machine. Its keys stay.')}
${actionForm(visit, 'reset', button({ id: 'reset', text: 'Empty the account', secondary: true }))}`,
  { id: 'back-to-now' },
)}`
}

const fields: FormFields = {
  to: {
    label: 'Or to a day or a time (UTC)',
    hint: 'Later than the clock, such as 14/9/2027 or 14/9/2027 08:20',
    width: 10,
    sentence:
      'Enter a day or a time that is later than the clock and before 2100, such as 14/9/2027 08:20',
    right: {},
  },
}

export async function move(visit: PageVisit): Promise<Next | Typed> {
  const { context, account, now, form } = visit
  const to = spanIn(form.get('to') ?? '', now)?.begin ?? Number.NaN
  const advance = form.has('advance') ? Number(form.get('advance')) : to - now
  const body = form.has('resume') ? { resume: true } : { advance }
  const read = (body: Json) => readFields(body, clockMove.fields)
  return submit(visit, { fields, body, read, aliases: { advance: 'to' } }, async moved => {
    await moveClock(context, account, moved)
    return { to: 'accounts', done: 'clock-moved' }
  })
}

export async function reset({ context, account }: PageVisit): Promise<Next> {
  await resetAccount(context, account, {})
  return { to: 'accounts', done: 'emptied' }
}
