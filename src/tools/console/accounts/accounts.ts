/** The account with its clock and its plans, and the test accounts that it has made. */

import { behaviourMeanings, givenName } from '../../../core/account.ts'
import { summaryList } from '../../../platform/web/components.ts'
import { html } from '../../../platform/web/html.ts'
import { findPlans } from '../../plans/store.ts'
import { definePage } from '../frame/define-page.ts'
import type { Typed } from '../frame/form.ts'
import { controlIsOff, link, paragraph, summaryRows } from '../frame/parts.ts'
import { clockForms, clockText, move, reset } from './clock.ts'
import { plan, plansPart, removePlan } from './plans.ts'
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
      summaryRows('account', {
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
    : controlIsOff('Here you could move the clock and choose what the next request does')
}
${tests ? html`${testAccountsPart(visit, tests)}${makeForm(visit, typed)}` : paragraph(link(`${visit.site}/console/accounts`, 'All test accounts, with the key of the parent'))}`,
  actions: {
    clock: { needsControl: true, run: move },
    reset: { needsControl: true, run: reset },
    plan: { needsControl: true, run: plan },
    'remove-plan': { needsControl: true, run: removePlan },
    'make-account': make,
    'end-account': end,
  },
})
