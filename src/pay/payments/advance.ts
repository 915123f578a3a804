import type { AccountTime } from '../../core/ports.ts'
import type { CardDetails } from '../card.ts'
import { eventsOfMove } from '../differences/messages.ts'
import { declineMayBeRetried } from '../differences/states.ts'
import { dueStep } from './due.ts'
import {
  behaviourOf,
  type Change,
  capturedAt,
  mockCardOf,
  type Payment,
  stateOf,
} from './payment.ts'
import { type Trigger, transitions } from './transitions.ts'

/**
 * The only function that moves a payment. Returns undefined if the table has no such transition.
 * `now` is in milliseconds. Pass `card` if the trigger submits another card than the mock card.
 */
export function advance(
  payment: Payment,
  trigger: Trigger,
  now: AccountTime,
  card?: CardDetails,
): Change | undefined {
  const transition = transitionOf(payment, trigger)
  if (!transition) return undefined
  const { status: from, at: latest } = stateOf(payment)
  const { authorisation_mode: mode, delayed_capture } = payment.given
  const behaviour = behaviourOf(payment)
  const at = Math.max(now, latest)
  const authorised = delayed_capture ? 'capturable' : 'success'
  const through = transition.through.map(step => (step === 'authorised' ? authorised : step))
  const to = through.at(-1) ?? from
  const { code } = transition
  const can_retry = payment.can_retry ?? declineMayBeRetried[behaviour]
  const ended = code && { code, ...(code === 'P0010' && mode === 'agreement' && { can_retry }) }
  const events = through.map(status => ({ status, at, ...(status === to && ended) }))
  const submitted = transition.submits === 'mock' ? mockCardOf(payment) : transition.submits && card
  const isCapture = trigger === 'confirm_capture'
  const after: Payment = {
    ...payment,
    version: payment.version + 1,
    events: [...payment.events, ...events],
    success_chosen: trigger === 'choose_success',
    ...(submitted && { card: submitted }),
    ...(isCapture && { captured_at: at }),
  }
  after.due_at = dueStep(after)?.at ?? null
  const sends = isCapture
    ? (['card_payment_captured'] as const)
    : eventsOfMove[behaviour]({ from, to, code })
  return { before: payment, after, at, sends: [...sends] }
}

export const allows = (payment: Payment, trigger: Trigger): boolean =>
  transitionOf(payment, trigger) !== undefined

function transitionOf(payment: Payment, trigger: Trigger) {
  const { status } = stateOf(payment)
  const { authorisation_mode: mode } = payment.given
  return transitions[behaviourOf(payment)][trigger].find(
    ({ from, only = mode, but, chosen, uncaptured }) =>
      from === status &&
      only === mode &&
      but !== mode &&
      (!chosen || payment.success_chosen) &&
      (!uncaptured || capturedAt(payment) === undefined),
  )
}
