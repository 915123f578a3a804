import type { AccountTime } from '../../core/ports.ts'
import type { CardDetails } from '../card.ts'

/** Specification, *States and transitions*, *Agreement*. None becomes inactive without a plan: see `deactivate`. */
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

/** Whether a payment may set it up: for the first time, or with another card. `evenCancelled`: whatever its status is. */
export const canBeSetUp = (
  { status }: Pick<Agreement, 'status'>,
  evenCancelled: boolean,
): boolean => status !== 'cancelled' || evenCancelled

/** The agreement after a payment that sets it up was authorised; undefined when it was cancelled meanwhile and stays so. */
export function activate(
  agreement: Agreement,
  card: CardDetails,
  now: AccountTime,
  evenCancelled = false,
): Agreement | undefined {
  if (!canBeSetUp(agreement, evenCancelled)) return undefined
  const { cancelled_at, ...kept } = agreement
  const version = agreement.version + 1
  return { ...kept, version, status: 'active', instrument: { at: now, card } }
}

/** After a payment that may not be tried again; undefined unless it is active. */
export function deactivate(agreement: Agreement): Agreement | undefined {
  if (agreement.status !== 'active') return undefined
  return { ...agreement, version: agreement.version + 1, status: 'inactive' }
}

/** undefined when it is already cancelled. The payment instrument is kept. */
export function cancel(agreement: Agreement, now: AccountTime): Agreement | undefined {
  if (agreement.status === 'cancelled') return undefined
  return { ...agreement, version: agreement.version + 1, status: 'cancelled', cancelled_at: now }
}
