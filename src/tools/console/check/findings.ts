import { timeOf } from '../../../core/ids.ts'
import { asTypedHere } from '../../../core/invocation.ts'
import { inDigits } from '../../../core/money.ts'
import { sourceName } from '../../../pay/differences/source.ts'
import { button, insetText, type TagColour, tag } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { MOST_MS, MOST_POSTS } from '../../explain/check/probing.ts'
import { showBroken } from '../../explain/check/production.ts'
import type { Finding, Verdict } from '../../explain/check/rule.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'

const colours: Partial<Record<Verdict, TagColour>> = { fail: 'red', warn: 'orange', note: 'blue' }

const levelTag = (level: Verdict): Html => tag(level, colours[level])

/** What GOV.UK Pay would do differently with a request or an attempt, from the keys that are kept with it. */
export function inProduction(keys: readonly string[] | undefined): Html | false {
  const broken = showBroken(keys)
  if (broken.length === 0) return false
  const lines = broken.map(
    ({ rule, level, sentence, advice }) =>
      html`${levelTag(level)} <strong>In production:</strong> ${sentence} ${advice} (${rule})`,
  )
  return insetText(ui.joined(lines, html`<br>`))
}

const MOST_LINKS = 5

export function findingView(visit: AccountVisit, finding: Finding): Html {
  const { root, now } = visit
  const { rule, title, sentence, advice, source, times, newest, evidence, webhook_id } = finding
  const often = times === 1 ? 'Once, at' : `${inDigits(times)} times, the newest at`
  const links = evidence
    .slice(0, MOST_LINKS)
    .map(id => ui.link(`${root}requests/${id}`, ui.briefTime(timeOf(id), now)))
  return html`<h3 class="govuk-heading-s" id="${rule}">${levelTag(finding.level)} ${rule} ${title}</h3>
${ui.paragraph(ui.untrusted(sentence))}
${ui.paragraph(html`<strong>What to do:</strong> ${ui.untrusted(asTypedHere(advice))}`)}
${ui.paragraph(html`${newest !== null && html`${often} ${ui.briefTime(Date.parse(newest), now)}.`}${links.length > 0 && html` Evidence: ${ui.joined(links)}.`} Source: ${ui.link(source, sourceName(source))}.`)}
${webhook_id !== undefined && probePart(visit, webhook_id, { receiver: html`the receiver of ${ui.link(`${root}webhooks/${webhook_id}`, 'the webhook')}`, id: `probe-${rule}-${webhook_id}` })}`
}

type Probe = { receiver: Part; id: string; text?: string | undefined }

/** The button that probes a receiver. It says before the click what will be sent. */
export const probePart = (
  { account, root, hasEnded }: AccountVisit,
  webhook_id: string,
  { receiver, id, text = 'Probe this receiver' }: Probe,
): Html | false =>
  !hasEnded &&
  html`${ui.paragraph(html`Sends at most ${MOST_POSTS} messages about paid payments to ${receiver} within ${MOST_MS / 1000} seconds: true ones, wrong signatures, a message twice, JSON that is printed differently and the like. The receiver acts on them as on any other message. They are no attempts of a message.`)}
${ui.postForm(account, `${root}webhooks/${webhook_id}/probe`, button({ id, text, secondary: true }))}`
