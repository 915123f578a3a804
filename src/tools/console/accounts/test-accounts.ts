/** The test accounts of the account: making one, looking inside, and ending it. */

import { type Account, behaviourMeanings, behaviours, givenName } from '../../../core/account.ts'
import { inDigits } from '../../../core/money.ts'
import {
  endedTestAccounts,
  placeOf,
  TEST_ACCOUNT_LIVES,
  testAccountsOf,
} from '../../../platform/accounts/store.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { backLink, button, details } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { countsOf, MOST_FAILED } from '../../lists/accounts-store.ts'
import { endAccount, makeAccount, newAccount } from '../../steer/accounts.ts'
import { readFields } from '../../steer/fields.ts'
import { actionForm } from '../frame/define-page.ts'
import {
  type FormFields,
  fieldParts,
  submit,
  type Typed,
  textIn,
  unlessRefused,
} from '../frame/form.ts'
import { type PageVisit, pageLinks, readPage } from '../frame/list.ts'
import type { Next, Page } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { type AccountVisit, insideOf } from '../frame/visit.ts'
import { ageText, clockText } from './clock.ts'

/** The test accounts on a page, and the most ended ones below them. */
const SIZE = 100
const MOST_ENDED = 50

export const makeForm = (visit: PageVisit, refused: Typed | undefined): Html | false =>
  actionForm(
    visit,
    'make-account',
    html`${fieldParts(refused, fieldsOf(visit.account))}${button({ id: 'make-account', text: 'Make a test account', secondary: true })}`,
  )

const fieldsOf = ({ behaviour }: Account): FormFields => ({
  name: { label: 'Name of a new test account', noun: 'The name', right: { name: 'x' } },
  behaviour: {
    label: 'Behaviour',
    hint: `With govuk-pay it ${behaviourMeanings['govuk-pay']}`,
    options: [
      ['', `as this account: ${behaviour}`],
      ...behaviours.map(behaviour => [behaviour, behaviour] as const),
    ],
    noun: 'The behaviour',
    right: { behaviour: 'specification' },
  },
})

/** Makes a test account, and returns a page with its key, which is shown only there. */
export async function make(visit: PageVisit): Promise<Next | Page | Typed> {
  const { context, account, form, wall, root } = visit
  if (account.parent !== null) throw pageFault(404)
  const name = textIn(form, 'name') ?? ''
  const body = { name, ...(form.get('behaviour') && { behaviour: form.get('behaviour') }) }
  const read = (body: Json) => readFields(body, newAccount.fields)
  return submit(visit, { fields: fieldsOf(account), body, read }, async wanted => {
    const { key, expires, account: made } = await makeAccount(context, account, wanted)
    const { behaviour } = made
    return {
      title: 'The test account is made',
      section: 'accounts',
      above: backLink(`${root}accounts`, 'Account'),
      heading: ui.heading(html`The test account <bdi>${name}</bdi> is made`),
      content: html`${ui.paragraph(`Its behaviour is ${behaviour}: it ${behaviourMeanings[behaviour]}.`)}
${ui.paragraph(html`Its key is shown only now. It ends ${ui.shortTime(expires, wall)}.`)}
${ui.listing('Its API key', key)}
${ui.paragraph(lookInside(root, name))}`,
    }
  })
}

export async function end({ context, account, form }: PageVisit): Promise<Next> {
  const ended = endAccount(context, account, form.get('name') ?? '')
  const isEnded = await unlessRefused(ended.then(() => true))
  return { to: 'accounts', done: isEnded ? 'account-ended' : 'not-ended' }
}

export async function readTestAccounts({ context, account, cursor, wall }: PageVisit) {
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

export const testAccountsPart = (visit: PageVisit, tests: Tests): Html =>
  html`<h2 class="govuk-heading-m">Test accounts</h2>
${tests.living.items.length === 0 ? ui.emptyState(visit, 'There are no test accounts', 'make one below') : livingTable(visit, tests)}
${pageLinks(visit, 'Test accounts', tests.living)}
${tests.ended.length > 0 && html`<h2 class="govuk-heading-m">Ended</h2>\n${endedTable(visit, tests)}`}
${tests.ended.length > MOST_ENDED && ui.paragraph(`The newest ${MOST_ENDED} are shown.`)}`

const failedText = (count: number): string =>
  `${inDigits(count)}${count >= MOST_FAILED ? ' or more' : ''}`

const livingTable = (visit: PageVisit, { living, counts }: Tests): Html =>
  ui.wideTable(living.items, {
    caption: 'Test accounts, newest first',
    columns: {
      Name: testAccount => ui.untrusted(givenName(testAccount)),
      Age: ({ expires }) => ageText(Math.max(0, visit.wall - expires + TEST_ACCOUNT_LIVES)),
      Behaviour: ({ behaviour }) => behaviour,
      Clock: clockText,
      Payments: ui.numeric(({ room }) => counts.payments.get(room) ?? 0),
      'Refused requests': ui.numeric(({ room }) => counts.refused.get(room) ?? 0),
      'Failed messages': ui.numeric(({ room }) => failedText(counts.failed.get(room) ?? 0)),
      'Look inside': ({ name }) => html`${lookInside(visit.root, name)}${endForm(visit, name)}`,
    },
  })

const endForm = (visit: PageVisit, name: string): Html | false =>
  !visit.hasEnded &&
  details(
    'End it',
    html`${ui.paragraph('Its keys and links stop at once.')}
${actionForm(visit, 'end-account', html`${ui.hidden('name', givenName({ name }))}${button({ id: `end-${givenName({ name })}`, text: 'End the test account', secondary: true })}`)}`,
  )

const lookInside = (root: string, name: string): Html =>
  ui.link(
    `${root}${insideOf({ name })}`,
    html`Look inside<span class="govuk-visually-hidden"> <bdi>${givenName({ name })}</bdi></span>`,
  )

const endedTable = ({ root }: AccountVisit, { ended }: Tests): Html =>
  ui.wideTable(ended.slice(0, MOST_ENDED), {
    caption: 'Ended test accounts, newest first',
    columns: {
      Name: testAccount => ui.untrusted(givenName(testAccount)),
      Ended: ({ since }) => (since === null ? 'earlier' : ui.time(since)),
      'Look inside': ({ name, since }) =>
        since === null ? 'All of it is deleted' : lookInside(root, name),
    },
  })
