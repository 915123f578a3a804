import { timeOf } from '../../../core/ids.ts'
import { asTypedHere } from '../../../core/invocation.ts'
import { inDigits } from '../../../core/money.ts'
import { sourceName } from '../../../pay/differences/source.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import {
  button,
  buttonLink,
  details,
  insetText,
  type TagColour,
  tag,
} from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { MOST_MS, MOST_POSTS } from '../../explain/check/probing.ts'
import { violationsOf } from '../../explain/check/production.ts'
import type { Report } from '../../explain/check/report.ts'
import { checkAndCount, failsIn } from '../../explain/check/report.ts'
import type { Finding, Level, Verdict } from '../../explain/check/rule.ts'
import { actOf } from '../../explain/check/situations.ts'
import { steer } from '../../steer/plans.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'

export const check = definePage({
  path: 'check',
  navigation: 'Check',
  read: ({ context, account }) => checkAndCount(context, account),
  show(visit, report) {
    const ofLevel = (level: Verdict) => report.findings.filter(finding => finding.level === level)
    const open = groups.map(([level, heading]) => [heading, ofLevel(level)] as const)
    return html`${ui.paragraph(`Would this integration work in production? What GOV.UK Pay does differently, as far as the requests and deliveries show it.`)}
${windowPart(visit, report)}
${report.from !== null && open.every(([, findings]) => findings.length === 0) && ui.paragraph(ofLevel('pass').length > 0 ? 'Nothing that was seen would break.' : 'Nothing was judged, so nothing has passed.')}
${open.map(
  ([heading, findings]) =>
    findings.length > 0 &&
    html`<h2 class="govuk-heading-m">${heading}</h2>
${findings.map(finding => findingView(visit, finding))}
`,
)}
${situationsPart(visit, report)}
${restPart('What passed', ofLevel('pass'))}
${restPart('What was not seen', ofLevel('not seen'))}
${ui.paragraph(html`The same in a terminal or a pipeline: ${ui.command('farthing check')}. In a test: ${ui.code("await account.check({ asOf: '1d' })")}.`)}`
  },
  fails: report => ({ fails: failsIn(report) }),
  actions: { make: { needsControl: true, run: make } },
})

const groups: [Level, heading: string][] = [
  ['fail', 'Will break in production'],
  ['warn', 'Likely to break'],
  ['note', 'Before you go live'],
]

function windowPart(visit: PageVisit, { kept, not_kept, from }: Report): Html {
  if (from === null)
    return ui.emptyState(
      visit,
      'Nothing is kept of the last 24 hours',
      'let your service make some requests',
    )
  const all = ui.counted(kept + not_kept, 'exchange')
  return ui.paragraph(
    html`${not_kept === 0 ? all : `${inDigits(kept)} of ${all}`} since ${ui.time(Date.parse(from))}${not_kept > 0 && `; ${inDigits(not_kept)} were not kept`}.`,
  )
}

const situationsPart = (
  visit: PageVisit,
  { situations }: Report,
): Html => html`<h2 class="govuk-heading-m">Situations of production</h2>
${ui.paragraph('What the documentation of GOV.UK Pay tells a client to handle, and whether your application has met it.')}
${!visit.config.control && ui.controlIsOff('Here each would have a button')}
${ui.wideTable(situations, {
  caption: 'Situations of production',
  columns: {
    Situation: ({ situation }) => situation,
    Met: ({ met, evidence }) =>
      html`${met === null && 'Cannot be seen: '}${evidence === null ? 'No' : ui.link(`${visit.root}requests/${evidence}`, ui.time(timeOf(evidence)))}`,
    How: ({ situation, met, line }) => met !== true && howPart(visit, situation, line),
  },
})}`

/** The button that makes the situation, or else the command, and then the next step. */
function howPart(visit: PageVisit, situation: string, line: string): Html {
  const [command = '', then] = line.split('# ')
  const shown = asTypedHere(command.trim().replace('$FARTHING_URL', visit.addresses.api))
  const act = shown !== '' && visit.config.control && actOf(situation, visit.account.behaviour)
  if (!act)
    return html`${command && ui.copied(situation, shown)}${then && html`<div>${then}</div>`}`
  return html`${actPart(visit, situation, act)}${then}
${details('As a command', ui.copied(situation, shown))}`
}

function actPart(visit: PageVisit, situation: string, act: NonNullable<Act>): Html | false {
  const id = situation.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const leading = (text: string, href: string) =>
    html`<div>${buttonLink(id, text, href, { secondary: true })}</div>`
  if (act === 'probe') return leading('Choose the receiver', `${visit.root}webhooks`)
  if (typeof act !== 'object')
    return (
      (visit.account.parent === null || visit.request.raw.isParents === true) &&
      leading(`Make a test account with ${act}`, `${visit.site}/console/accounts#name`)
    )
  const text = act.path === 'clock' ? 'Move the clock' : 'Plan it'
  const plan = button({ id, text, secondary: true })
  return actionForm(visit, 'make', html`${ui.hidden('situation', situation)}${plan}`)
}

type Act = ReturnType<typeof actOf>

async function make({ context, account, form }: PageVisit): Promise<Next> {
  const act = actOf(form.get('situation') ?? '', account.behaviour)
  // No button of the page sends such a form.
  if (typeof act !== 'object') throw pageFault(400)
  await steer(context, account, act)
  return { to: 'check', done: act.path === 'clock' ? 'clock-moved' : 'planned' }
}

const restPart = (heading: string, findings: Finding[]): Html | false =>
  findings.length > 0 &&
  details(
    `${heading} (${findings.length})`,
    ui.wideTable(findings, {
      caption: heading,
      columns: {
        Rule: ({ rule }) => rule,
        About: ({ title }) => title,
        Evidence: ({ times, sentence }) =>
          times > 0 ? `Seen ${ui.counted(times, 'time')}` : ui.untrusted(sentence),
      },
    }),
  )

const colours: Partial<Record<Verdict, TagColour>> = { fail: 'red', warn: 'orange', note: 'blue' }

const levelTag = (level: Verdict): Html => tag(level, colours[level])

/**
 * Says what GOV.UK Pay would do differently with a request or an attempt. `keys`: the keys of the rules it breaks.
 * `above` has the sentences that the page says already, and gets those of this request.
 */
export function inProduction(
  keys: readonly string[] | undefined,
  above = new Set<string>(),
): Html | false {
  const violations = violationsOf(keys)
  if (violations.length === 0) return false
  const lines = violations.map(({ rule, level, title, sentence, advice }) => {
    const said = above.has(sentence)
    above.add(sentence)
    const text = said ? html`as above` : html`${title}. ${sentence} ${advice}`
    return html`${levelTag(level)} <strong>In production:</strong> ${text} (${rule})`
  })
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

/** The button that probes a receiver, below a text that says what will be sent. */
export const probePart = (
  { account, root, hasEnded }: AccountVisit,
  webhook_id: string,
  { receiver, id, text = 'Probe this receiver' }: Probe,
): Html | false =>
  !hasEnded &&
  html`${ui.paragraph(html`Sends at most ${MOST_POSTS} messages about paid payments to ${receiver} within ${MOST_MS / 1000} seconds: true ones, wrong signatures, a message twice, JSON that is printed differently and the like. The receiver acts on them as on any other message. They are no attempts of a message.`)}
${ui.postForm(account, `${root}webhooks/${webhook_id}/probe`, button({ id, text, secondary: true }))}`
