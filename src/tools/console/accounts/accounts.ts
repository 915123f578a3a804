/** The account with its clock and its plans, and the test accounts that it has made. */

import { type Account, behaviourMeanings, givenName } from '../../../core/account.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button, details, summaryList } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Plan } from '../../plans/plan.ts'
import { deletePlan, findPlans } from '../../plans/store.ts'
import { readFields } from '../../steer/fields.ts'
import { offersTo, offerText, textOfPlan } from '../../steer/offers.ts'
import { newPlan } from '../../steer/plan-wire.ts'
import { makePlan } from '../../steer/plans.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { type FormFields, fieldParts, submit, type Typed, textIn } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { clockForms, clockText, move, reset } from './clock.ts'
import { end, make, makeForm, readTestAccounts, testAccountsPart } from './test-accounts.ts'

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
  show: (visit, { plans, tests }, typed?: Typed) =>
    html`${summaryList(
      ui.summaryRows('account', {
        Name: html`<bdi>${givenName(visit.account)}</bdi>`,
        'Test account of':
          visit.account.parent !== null && html`<bdi>${visit.account.parent}</bdi>`,
        Behaviour: `${visit.account.behaviour}: it ${behaviourMeanings[visit.account.behaviour]}`,
        Clock: clockText(visit.account),
      }),
    )}
${
  visit.config.control
    ? html`<h2 class="govuk-heading-m" id="clock">Clock</h2>
${clockForms(visit, typed)}
<h2 class="govuk-heading-m" id="plans">What the next request does</h2>
${plansPart(visit, plans, typed)}`
    : ui.controlIsOff('Here you could move the clock and choose what the next request does')
}
${tests ? html`${testAccountsPart(visit, tests)}${makeForm(visit, typed)}` : visit.request.raw.isParents && ui.paragraph(ui.link(`${visit.site}/console/accounts`, 'All test accounts of the parent'))}`,
  actions: {
    clock: { needsControl: true, run: move },
    reset: { needsControl: true, run: reset },
    plan: { needsControl: true, run: plan },
    'remove-plan': { needsControl: true, run: removePlan },
    'make-account': make,
    'end-account': end,
  },
})

const plansPart = (visit: PageVisit, plans: readonly Plan[], typed?: Typed): Html =>
  html`${ui.paragraph('A plan acts on requests to the API, and a plan about messages on all messages. How payments and refunds made in the console end is chosen with them.')}
${plans.length === 0 ? ui.emptyState(visit, 'Nothing is planned', 'choose below what the next request does') : table(visit, plans)}
${actionForm(visit, 'plan', html`${fieldParts(typed, fieldsOf(visit.account), { times: '1' })}${button({ id: 'plan', text: 'Plan it' })}`)}`

const table = (visit: PageVisit, plans: readonly Plan[]): Html =>
  ui.wideTable(plans, {
    caption: 'What is planned, in the order in which it is looked at',
    columns: {
      What: plan => textOfPlan(plan) ?? asJson(plan),
      For: plan => ui.untrusted(whichOf(plan)),
      'How often': ({ times, skip }) =>
        `${times === 'always' ? 'always' : times === 1 ? 'once' : `${times} times`}${skip > 0 ? `, after ${skip}` : ''}`,
      'What it did': ({ seen, acted, note }) =>
        html`${acted === 0 ? 'nothing yet' : `acted ${ui.counted(acted, 'time')}`}${seen > acted && `, met ${ui.counted(seen, 'time')}`}${note && html`: ${ui.untrusted(note)}`}`,
      Remove: ({ plan_id }) =>
        actionForm(
          visit,
          'remove-plan',
          html`${ui.hidden('plan_id', plan_id)}${button({ id: `remove-${plan_id}`, text: 'Remove', secondary: true })}`,
        ),
    },
  })

/** A plan as JSON, if the form does not offer it: a test may have made it. */
const asJson = ({ room, seen, acted, ...plan }: Plan): Html =>
  details(
    `A plan for ${plan.on ?? 'any request'}`,
    ui.listing(`Plan ${plan.plan_id}`, JSON.stringify(plan, null, 2)),
  )

function whichOf({ given, payment_id }: Plan): string {
  const { authorisation_mode, ...rest } = given ?? {}
  const facts = Object.entries({ ...rest, ...(payment_id && { payment_id }) }).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return facts.join(', ') || 'any'
}

const fieldsOf = ({ behaviour }: Account): FormFields => ({
  scenario: {
    label: 'What it does',
    hint: 'A payment acts when its page is opened, or when its card is sent; a charge, a refund and a request at once',
    options: [
      ['', 'Choose'],
      ...[...offersTo(behaviour)].map(([name, offer]) => [name, offerText(offer)] as const),
    ],
    noun: 'The choice',
    right: {},
  },
  reference: {
    label: 'Only for payments with the reference',
    hint: 'Leave both empty for the next one, whatever it is',
    noun: 'The reference',
    right: {},
  },
  agreement: {
    label: 'Only for charges of the agreement',
    hint: 'Its ID',
    sentence: 'Enter the ID of an agreement: 26 letters and digits',
    right: {},
  },
  times: {
    label: 'How often',
    options: [
      ['1', 'once'],
      ['always', 'always, until it is removed'],
    ],
    right: { times: 1 },
  },
})

const aliases = {
  'given.reference': 'reference',
  'given.agreement_id': 'agreement',
  given: 'agreement',
}

async function plan(visit: PageVisit): Promise<Next | Typed> {
  const { context, account, form } = visit
  const offer = offersTo(account.behaviour).get(form.get('scenario') ?? '')
  if (!offer) return { form, errors: { scenario: 'Choose what is to happen' } }
  const [reference, agreement_id] = [textIn(form, 'reference'), textIn(form, 'agreement')]
  const given = {
    ...offer.plan.given,
    ...(reference && { reference }),
    ...(agreement_id && { agreement_id, authorisation_mode: 'agreement' }),
  }
  const body: Json = {
    ...offer.plan,
    ...(Object.keys(given).length > 0 && { given }),
    times: form.get('times') === 'always' ? 'always' : 1,
  }
  const read = (body: Json) => readFields(body, newPlan.fields)
  return submit(visit, { fields: fieldsOf(account), body, read, aliases }, async wanted => {
    await makePlan(context, account, wanted)
    return { to: 'accounts', done: 'planned' }
  })
}

async function removePlan({ context, form, account }: PageVisit): Promise<Next> {
  await deletePlan(context.database, account.room, form.get('plan_id') ?? '')
  return { to: 'accounts', done: 'plan-removed' }
}
