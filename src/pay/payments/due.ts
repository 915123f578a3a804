/** The step that time owes a payment. Pure. */
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { captureDelay, chargeDelay, expiry } from '../differences/states.ts'
import { behaviourOf, capturedAt, type Payment, stateOf } from './payment.ts'

/** Milliseconds. A charge authorises the payment by the card of its agreement, or ends it as its scenario says. */
export type DueStep = { at: AccountTime; step: 'charge' | 'capture' | 'expiry' }

/** A payment owes at most one step. undefined if none, as always under the specification. */
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
