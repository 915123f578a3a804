/** The account with its clock and its plans, and the test accounts that it has made. */

import {
  type Account,
  behaviourMeanings,
  behaviours,
  givenName,
  isAccountName,
  isBehaviour,
  newTestAccount,
} from '../../../core/account.ts'
import { TEST_ACCOUNTS } from '../../../core/budgets.ts'
import { DAY, HOUR, iso, MINUTE, SECOND } from '../../../core/time.ts'
import {
  createTestAccount,
  endedTestAccounts,
  hasAllTestAccounts,
  placeOf,
  TEST_ACCOUNT_LIVES,
  testAccountsOf,
} from '../../../platform/accounts/store.ts'
import { formBody } from '../../../platform/http/body.ts'
import { backLink, button, details, summaryList } from '../../../platform/web/components.ts'
import { input, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Plan } from '../../plans/plan.ts'
import { findPlans } from '../../plans/store.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { type Typed, textIn, typedIn } from '../frame/form.ts'
import { type PageVisit, pageLinks, readPage } from '../frame/list.ts'
import type { Page } from '../frame/page.ts'
import {
  code,
  counted,
  emptyState,
  heading,
  link,
  listing,
  numeric,
  paragraph,
  shortTime,
  summaryRows,
  time,
  untrusted,
  wideTable,
} from '../frame/parts.ts'
import { type AccountVisit, insideOf, notFound } from '../frame/visit.ts'
import { countsOf } from './counts-store.ts'

/** Test accounts on a page, and the most that have ended. */
const SIZE = 100
const MOST_ENDED = 50

export const accounts = definePage({
  path: 'accounts',
  navigation: 'Account',
  async read(visit) {
    const { context, config, account } = visit
    return {
      plans: config.control ? await findPlans(context.database, account.room) : [],
      tests: account.parent === null ? await readTestAccounts(visit) : undefined,
    }
  },
  show: (visit, { plans, tests }, refused?: Typed) =>
    html`<h2 class="govuk-heading-m">This account</h2>
${summaryList(
  summaryRows('account', {
    Name: html`<bdi>${givenName(visit.account)}</bdi>`,
    'Test account of': visit.account.parent !== null && html`<bdi>${visit.account.parent}</bdi>`,
    Behaviour: `${visit.account.behaviour}: it ${behaviourMeanings[visit.account.behaviour]}`,
    Clock: clockOf(visit.account),
  }),
)}
<h2 class="govuk-heading-m">Plans</h2>
${plansPart(visit, plans)}
${tests ? html`${testAccountsPart(visit, tests)}${makeForm(visit, refused)}` : paragraph(link(`${visit.site}/console/accounts`, 'All accounts, with the key of the parent'))}`,
  actions: { 'make-account': { run: makeAccount } },
})

const makeForm = (visit: PageVisit, refused: Typed | undefined): Html | false =>
  actionForm(
    visit,
    'make-account',
    html`${input({ ...typedIn(refused, 'name'), label: 'Name of a new test account' })}
${select({
  ...typedIn(refused, 'behaviour'),
  label: 'Behaviour',
  hint: `With govuk-pay it ${behaviourMeanings['govuk-pay']}`,
  options: [
    { value: '', text: `as this account: ${visit.account.behaviour}` },
    ...behaviours.map(value => ({ value, text: value })),
  ],
})}
${button({ id: 'make-account', text: 'Make a test account', secondary: true })}`,
  )

/** Its key is shown once, as everywhere. */
async function makeAccount(visit: PageVisit): Promise<Page | Typed> {
  const { context, account, request, wall, root } = visit
  if (account.parent !== null) throw notFound()
  const form = formBody(request)
  const name = textIn(form, 'name') ?? ''
  const behaviour = textIn(form, 'behaviour') ?? account.behaviour
  const isKnown = isBehaviour(behaviour)
  const refused = (error?: string): Typed => ({
    form,
    errors: {
      ...(error && { name: error }),
      ...(!isKnown && { behaviour: `Choose ${behaviours.join(' or ')}` }),
    },
  })
  if (!isAccountName(name))
    return refused(
      'Enter a name of 1 to 64 letters, digits, spaces, dots, hyphens or underscores, that begins with a letter or a digit',
    )
  if (!isKnown) return refused()
  if (await hasAllTestAccounts(context.database, account.name, wall))
    return refused(`An account has at most ${TEST_ACCOUNTS} test accounts`)
  const child = newTestAccount(account.name, name, behaviour)
  const testAccount = await createTestAccount(context, child)
  if (!testAccount) return refused('Enter another name: this one was used within the last 8 days')
  return {
    title: 'The test account is made',
    section: 'accounts',
    above: backLink(`${root}accounts`, 'Test accounts'),
    heading: heading(html`The test account <bdi>${name}</bdi> is made`),
    content: html`${paragraph(`Its behaviour is ${behaviour}: it ${behaviourMeanings[behaviour]}.`)}
${paragraph(html`Its key is shown only now. It ends ${shortTime(testAccount.expires, wall)}.`)}
${listing('Its API key', testAccount.key)}
${paragraph(lookInside(root, name))}`,
  }
}

/** How the account's clock differs from the machine's. */
function clockOf({ clock_offset, frozen_at }: Account): string {
  if (frozen_at !== null) return `stands still at ${iso(frozen_at)}`
  if (clock_offset === 0) return 'that of the machine'
  return `${ageOf(Math.abs(clock_offset))} ${clock_offset > 0 ? 'ahead of' : 'behind'} the machine`
}

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const

/** Such as 3 hours. */
function ageOf(ms: number): string {
  const [unit, length] = UNITS.find(each => ms >= each[1]) ?? UNITS[3]
  return counted(Math.floor(ms / length), unit)
}

const plansPart = (visit: PageVisit, plans: readonly Plan[]): Html =>
  plans.length === 0
    ? emptyState(
        visit,
        'There are no plans',
        visit.config.control
          ? html`a test makes one with ${code('POST /control/plans')}`
          : html`they need ${code('FARTHING_CONTROL=true')}`,
      )
    : html`${plans.map(({ room, seen, acted, ...plan }) =>
        details(
          `${titleOf(plan)}: matched ${seen}, acted ${acted}`,
          listing(`Plan ${plan.plan_id}`, JSON.stringify(plan, null, 2)),
        ),
      )}`

/** Such as `declined on createPayment`. */
function titleOf({ scenario, hold, delay, answer, reset, on }: Partial<Plan>): string {
  const effects = [
    scenario,
    hold && 'held',
    delay !== undefined && `late by ${[delay].flat().join(' to ')} ms`,
    answer && [answer.status, answer.code].filter(Boolean).join(' '),
    reset && 'connection closed',
  ]
  return `${effects.filter(Boolean).join(', ')} on ${on ?? 'every operation'}`
}

async function readTestAccounts({ context, account, cursor, wall }: PageVisit) {
  const { database } = context
  const of = { parent: account.name, now: wall }
  const [living, ended] = await Promise.all([
    readPage(
      cursor,
      placeOf,
      (range, part) => testAccountsOf(database, { ...of, ...range }, part),
      SIZE,
    ),
    endedTestAccounts(database, of, MOST_ENDED + 1),
  ])
  const rooms = living.items.map(({ room }) => room)
  return { living, ended, counts: await countsOf(database, rooms) }
}

type Tests = Awaited<ReturnType<typeof readTestAccounts>>

const testAccountsPart = (visit: PageVisit, tests: Tests): Html =>
  html`<h2 class="govuk-heading-m">Test accounts</h2>
${tests.living.items.length === 0 ? emptyState(visit, 'There are no test accounts', 'make one below') : livingTable(visit, tests)}
${pageLinks(visit, 'Test accounts', tests.living)}
${tests.ended.length > 0 && html`<h2 class="govuk-heading-m">Ended</h2>\n${endedTable(visit, tests)}`}
${tests.ended.length > MOST_ENDED && paragraph(`The newest ${MOST_ENDED} are shown.`)}`

const livingTable = ({ root, wall }: AccountVisit, { living, counts }: Tests): Html =>
  wideTable(living.items, {
    caption: 'Test accounts, newest first',
    columns: {
      Name: testAccount => untrusted(givenName(testAccount)),
      Age: ({ expires }) => ageOf(Math.max(0, wall - expires + TEST_ACCOUNT_LIVES)),
      Behaviour: ({ behaviour }) => behaviour,
      Clock: clockOf,
      Payments: numeric(({ room }) => counts.payments.get(room) ?? 0),
      'Refused requests': numeric(({ room }) => counts.refused.get(room) ?? 0),
      'Failed messages': numeric(({ room }) => counts.failed.get(room) ?? 0),
      'Look inside': ({ name }) => lookInside(root, name),
    },
  })

const lookInside = (root: string, name: string): Html =>
  link(
    `${root}${insideOf({ name })}`,
    html`Look inside<span class="govuk-visually-hidden"> <bdi>${givenName({ name })}</bdi></span>`,
  )

const endedTable = ({ root }: AccountVisit, { ended }: Tests): Html =>
  wideTable(ended.slice(0, MOST_ENDED), {
    caption: 'Ended test accounts, newest first',
    columns: {
      Name: testAccount => untrusted(givenName(testAccount)),
      Ended: ({ since }) => (since === null ? 'earlier' : time(since)),
      'Look inside': ({ name, since }) =>
        since === null ? 'All of it is deleted' : lookInside(root, name),
    },
  })
