/** Findings of the check as parts of pages. */
import { insetText, type TagColour, tag } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { showBroken } from '../../explain/check/judge.ts'
import { type Finding, type Level, sourceName } from '../../explain/check/rule.ts'
import { inDigits, link, paragraph, time, timeIn, untrusted } from '../frame/parts.ts'

const colours: Record<Level, TagColour> = { fail: 'red', warn: 'orange', note: 'blue' }

const levelTag = (level: Level): Html => tag(level, colours[level])

/** What GOV.UK Pay would do differently with a request or an attempt, from the keys that are kept with it. */
export function inProduction(keys: readonly string[] | undefined): Html | false {
  const broken = showBroken(keys)
  if (broken.length === 0) return false
  return insetText(
    html`${broken.map(
      ({ rule, level, sentence, advice }, i) =>
        html`${i > 0 && html`<br>`}${levelTag(level)} <strong>In production:</strong> ${sentence} ${advice} (${rule})`,
    )}`,
  )
}

/** Links of one finding. */
const MOST_LINKS = 5

export function findingView(root: string, finding: Finding, level: Level): Html {
  const { rule, title, sentence, advice, source, times, newest, evidence, webhook_id } = finding
  const often = times === 1 ? 'Once, at' : `${inDigits(times)} times, the newest at`
  const links = evidence
    .slice(0, MOST_LINKS)
    .map((id, i) => html`${i > 0 && ', '}${link(`${root}requests/${id}`, timeIn(id))}`)
  return html`<h3 class="govuk-heading-s" id="${rule}">${levelTag(level)} ${rule} ${title}</h3>
${paragraph(untrusted(sentence))}
${paragraph(html`<strong>What to do:</strong> ${untrusted(advice)}`)}
${paragraph(html`${newest !== null && html`${often} ${time(Date.parse(newest))}.`}${links.length > 0 && html` Evidence: ${links}.`} Source: ${link(source, sourceName(source))}.`)}
${webhook_id !== undefined && paragraph(link(`${root}webhooks/${webhook_id}`, 'The webhook, with a probe of its receiver'))}`
}
