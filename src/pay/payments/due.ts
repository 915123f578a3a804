/** The step that time owes a payment. Pure. */
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { captureDelay, chargeDelay, expiry } from '../differences/states.ts'
import { behaviourOf, capturedAt, type Payment, stateOf } from './payment.ts'

/** `at` in milliseconds. A charge authorises the payment by the card of its agreement, or ends it by its scenario. */
export type DueStep = { at: AccountTime; step: 'charge' | 'capture' | 'expiry' }

/** The one step that time owes the payment; undefined if there is none, as always under the specification. */
export function dueStep(payment: Payment): DueStep | undefined {
  const { status, at: changed } = stateOf(payment)
  const behaviour = behaviourOf(payment)
  const [limits, toCharge] = [expiry[behaviour], chargeDelay[behaviour]]
  if (!limits || toCharge === undefined) return undefined
  const created = timeOf(payment.payment_id)
  switch (status) {
    case 'created':
    case 'started':
    case 'submitted':
      if (payment.given.authorisation_mode === 'agreement')
        return payment.hold ? undefined : { at: changed + toCharge, step: 'charge' }
      return {
        at: Math.max(created + limits.open, changed + limits.sinceChange),
        step: 'expiry',
      }
    case 'capturable':
      return { at: created + limits.capturable, step: 'expiry' }
    case 'success':
      if (capturedAt(payment) !== undefined || payment.capture === 'held') return undefined
      return { at: changed + captureDelay[behaviour], step: 'capture' }
    default:
      return undefined
  }
}
