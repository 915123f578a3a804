/** A refund. `amount` is in pence; when it was made is in its identifier. */
export type Refund = { refund_id: string; payment_id: string; account: string; amount: number }

/** SPEC *Limits*: how long a refund reads as submitted before it is success, in milliseconds. */
export const SUBMITTED_MS = 5_000

/** `created` and `now` in milliseconds. */
export const refundStatus = (created: number, now: number): 'submitted' | 'success' =>
  now - created < SUBMITTED_MS ? 'submitted' : 'success'
