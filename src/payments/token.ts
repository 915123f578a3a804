import { timingSafeEqual } from 'node:crypto'
import type { Database } from '../ports.ts'
import type { Payment } from './payment.ts'
import { findPaymentOfAnyone } from './store.ts'

const TOKEN = /^([0-9a-v]{26})([0-9a-v]{26})$/

/** The payment whose token this is: its identifier followed by its secret. undefined for any other text. */
export async function findByToken(
  database: Database,
  token: string,
  now: number,
): Promise<Payment | undefined> {
  const [, payment_id, secret] = TOKEN.exec(token) ?? []
  if (!payment_id || !secret) return undefined
  const payment = await findPaymentOfAnyone(database, payment_id, now)
  const matches = payment && timingSafeEqual(Buffer.from(secret), Buffer.from(payment.secret))
  return matches ? payment : undefined
}
