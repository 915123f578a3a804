import type { Behaviour } from '../../core/account.ts'
import type { AccountTime } from '../../core/ports.ts'
import type { CardDetails } from '../card.ts'
import { cancellableAgreements, setUpAgain } from '../differences/agreements.ts'

/** Specification, *States and transitions*, *Agreement*. A decline with can_retry false makes an agreement inactive. */
export const agreementStatuses = ['created', 'active', 'cancelled', 'inactive'] as const
export type AgreementStatus = (typeof agreementStatuses)[number]

export type NewAgreement = { reference: string; description: string; user_identifier?: string }

export type Agreement = NewAgreement & {
  agreement_id: string
  room: string
  /** Incremented by every write. Compared by compare-and-swap. */
  version: number
  status: AgreementStatus
  /** In milliseconds. Set once the agreement is cancelled. */
  cancelled_at?: number
  /** The card of the last payment that set the agreement up, `at` in milliseconds. */
  instrument?: { at: AccountTime; card: CardDetails }
}

export const makeAgreement = (
  agreement_id: string,
  room: string,
  fields: NewAgreement,
): Agreement => ({ agreement_id, room, version: 1, status: 'created', ...fields })

/** Whether a payment may set up the agreement, for the first time or with another card. */
export const canBeSetUp = ({ status }: Pick<Agreement, 'status'>, behaviour: Behaviour): boolean =>
  status !== 'cancelled' || setUpAgain[behaviour] === 'possible'

/** The agreement after the payment that sets it up was authorised; undefined if a cancel came first and is final. */
export function activate(
  agreement: Agreement,
  card: CardDetails,
  now: AccountTime,
  behaviour: Behaviour,
): Agreement | undefined {
  if (!canBeSetUp(agreement, behaviour)) return undefined
  const { cancelled_at, ...kept } = agreement
  const version = agreement.version + 1
  return { ...kept, version, status: 'active', instrument: { at: now, card } }
}

/** The agreement after a decline with can_retry false; undefined unless it was active. */
export function deactivate(agreement: Agreement): Agreement | undefined {
  if (agreement.status !== 'active') return undefined
  return { ...agreement, version: agreement.version + 1, status: 'inactive' }
}

/** undefined if the status does not allow a cancel. The payment instrument is kept. */
export function cancel(
  agreement: Agreement,
  now: AccountTime,
  behaviour: Behaviour,
): Agreement | undefined {
  if (!cancellableAgreements[behaviour].includes(agreement.status)) return undefined
  return { ...agreement, version: agreement.version + 1, status: 'cancelled', cancelled_at: now }
}
