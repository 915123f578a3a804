import type { CardDetails } from '../payments/card.ts'

/** SPEC *Agreement*. Nothing moves an agreement into inactive. */
export const agreementStatuses = ['created', 'active', 'cancelled', 'inactive'] as const
export type AgreementStatus = (typeof agreementStatuses)[number]

export type Agreement = {
  agreement_id: string
  account: string
  /** Raised by every write; what a compare-and-swap compares. */
  version: number
  status: AgreementStatus
  reference: string
  description: string
  user_identifier?: string
  /** In milliseconds; only while the agreement is cancelled. */
  cancelled_at?: number
  /** The card of the payment that last set the agreement up; `at` is when, in milliseconds. */
  instrument?: { at: number; card: CardDetails }
}

/** The agreement once a payment that sets it up was authorised, whatever its status was before. */
export function activate(agreement: Agreement, card: CardDetails, now: number): Agreement {
  const { cancelled_at, ...kept } = agreement
  return { ...kept, version: kept.version + 1, status: 'active', instrument: { at: now, card } }
}

/** undefined when it is already cancelled. The instrument stays visible. */
export function cancel(agreement: Agreement, now: number): Agreement | undefined {
  if (agreement.status === 'cancelled') return undefined
  return { ...agreement, version: agreement.version + 1, status: 'cancelled', cancelled_at: now }
}
