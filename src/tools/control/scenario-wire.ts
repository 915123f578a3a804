/** How a payment is to end, in the bodies of requests: of a plan, of a payment to make, and of one to complete. */
import {
  type AuthorisationMode,
  choices,
  type Scenario,
  scenarios,
} from '../../pay/payments/payment.ts'
import { impossibleFor, type WantedScenario } from '../../pay/payments/scenario.ts'
import type { Json } from '../../platform/http/fields.ts'
import { choiceIn, flagIn, trueIn } from './body.ts'
import { badField } from './errors.ts'

const canRetry = {
  type: 'boolean',
  default: true,
  description: 'Of a declined payment in agreement mode. With false its agreement becomes inactive',
} as const
const hold = {
  const: true,
  description:
    'It stops one step before its end, until it is completed: submitted, or created in agreement mode',
} as const

/** Of a payment to complete. A choice there is how it ends, and a plan has none that ends it alone. */
export const completionFields = {
  scenario: {
    type: 'string',
    enum: scenarios,
    description: 'How it ends: of a payment that is held as its plan says, otherwise success',
  },
  can_retry: canRetry,
} as const
export const builtFields = {
  ...completionFields,
  scenario: { ...completionFields.scenario, description: 'Completes it' },
  hold,
} as const
export const plannedFields = {
  scenario: { type: 'string', enum: choices, description: 'How it ends. A refund: success, error' },
  can_retry: canRetry,
  hold,
} as const

/** Reads what a test wants, of these scenarios. Throws a 422 for what no payment of the mode can do. */
export function readWanted<Each extends Scenario>(
  body: Json,
  possible: readonly Each[],
  mode?: AuthorisationMode,
): WantedScenario & { scenario?: Each } {
  const scenario = choiceIn(body, 'scenario', possible)
  const wanted = {
    ...(scenario && { scenario }),
    ...(body.can_retry !== undefined && { can_retry: flagIn(body, 'can_retry') }),
    ...(trueIn(body, 'hold') && { hold: true as const }),
  }
  const impossible = impossibleFor(mode, wanted)
  if (impossible) throw badField(impossible.field, impossible.rule)
  return wanted
}
