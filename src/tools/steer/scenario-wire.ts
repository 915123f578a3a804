/** How a payment is to end, in the bodies of requests: of a plan, of a payment to make, and of one to complete. */
import type { Behaviour } from '../../core/account.ts'
import { boolean, either, oneOf, only } from '../../core/values.ts'
import {
  type AuthorisationMode,
  choices,
  type Scenario,
  scenarioIn,
} from '../../pay/payments/payment.ts'
import { impossibleFor } from '../../pay/payments/scenario.ts'
import { badField } from './errors.ts'

const succeedsOrFails = (description: string) => either(only(true), only('error'), { description })

const can_retry = boolean({
  description:
    'Of a declined payment in agreement mode: true under the specification, false under govuk-pay, if absent. With false its agreement becomes inactive',
})
const hold = only(true, {
  description: 'A payment in agreement mode stays started until it is completed. Only govuk-pay',
})
const confirm = only(false, {
  description: 'The user leaves at Confirm: the payment is submitted. Only govuk-pay',
})

/** The fields to complete a payment, or the capture and the refunds for which it waits. */
export const completionFields = {
  scenario: oneOf(choices, {
    description: 'How it ends: of a payment that is held as its plan says, otherwise success',
  }),
  can_retry,
  confirm,
  capture: succeedsOrFails('Captures it now, or lets the capture fail. Only govuk-pay'),
  refund: succeedsOrFails('Ends its refunds that are held'),
}
export const builtFields = {
  scenario: oneOf(choices, { description: 'Completes it' }),
  can_retry,
  hold,
  confirm,
}
export const plannedFields = {
  scenario: oneOf(choices, { description: 'How it ends. A refund: success, error' }),
  can_retry,
  hold,
  confirm,
  capture: oneOf(['held', 'error'], {
    description:
      'Of createPayment, or of capturePayment with delayed_capture: the capture waits until the payment is completed, or fails when it is due. Only govuk-pay',
  }),
  refund: oneOf(['held'], {
    description: 'Of refundPayment: the refund stays submitted until its payment is completed',
  }),
}

/** Throws a 422 for a scenario that no payment of the mode and behaviour can have. */
export function wantedOf(
  scenario: Scenario,
  behaviour: Behaviour,
  mode?: AuthorisationMode,
): Scenario {
  const wanted = scenarioIn(scenario)
  const impossible = impossibleFor({ mode, behaviour }, wanted)
  if (impossible) throw badField(impossible.field, impossible.rule)
  return wanted
}
