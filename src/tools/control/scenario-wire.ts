/** How a payment is to end, in the bodies of requests: of a plan, of a payment to make, and of one to complete. */
import {
  type AuthorisationMode,
  choices,
  type Scenario,
  scenarios,
} from '../../pay/payments/payment.ts'
import { impossibleFor, type WantedScenario } from '../../pay/payments/scenario.ts'
import { appliedBy } from '../plans/plan.ts'
import { badField } from './errors.ts'
import { boolean, choice, onlyTrue } from './fields.ts'

const can_retry = boolean({
  default: true,
  description: 'Of a declined payment in agreement mode. With false its agreement becomes inactive',
})
const hold = onlyTrue({
  description:
    'It stops one step before its end, until it is completed: submitted, or created in agreement mode',
})

/** Of a payment to complete. A choice there is how it ends, and a plan has none that ends it alone. */
export const completionFields = {
  scenario: choice(scenarios, {
    description: 'How it ends: of a payment that is held as its plan says, otherwise success',
  }),
  can_retry,
}
export const builtFields = {
  ...completionFields,
  scenario: choice(scenarios, { description: 'Completes it' }),
  hold,
}
export const plannedFields = {
  scenario: choice(choices, { description: 'How it ends. A refund: success, error' }),
  can_retry,
  hold,
}

/** What a test wants. Throws a 422 for what no payment of the mode can do. */
export function wantedOf<Each extends Scenario>(
  given: Omit<WantedScenario, 'scenario'> & { scenario?: Each },
  mode?: AuthorisationMode,
) {
  const wanted = appliedBy(given)
  const impossible = impossibleFor(mode, wanted)
  if (impossible) throw badField(impossible.field, impossible.rule)
  return wanted
}
