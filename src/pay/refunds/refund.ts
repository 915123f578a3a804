import type { AccountTime } from '../../core/ports.ts'
/** Amounts are in pence. The time of creation is in `refund_id`. */
export type Refund = { refund_id: string; payment_id: string; room: string; amount: number }

/** What the client asked for. `available` is the amount that it believes can still be refunded. */
export type NewRefund = { amount: number; available: number | undefined }

/** Specification, *Limits*: a refund is submitted for 5 seconds, then success. */
export const SUBMITTED_MS = 5_000

/** `created` and `now` in milliseconds. */
export const refundStatus = (created: number, now: AccountTime): 'submitted' | 'success' =>
  now - created < SUBMITTED_MS ? 'submitted' : 'success'
