import type { FastifyRequest } from 'fastify'
import { paymentNotFound } from '../errors.ts'
import type { Farthing } from '../farthing.ts'
import { pathParam } from '../http/resource.ts'
import type { Payment } from './payment.ts'
import { findPayment } from './store.ts'

/** The payment that the path names. Throws the endpoint's error when the account has no such payment. */
export async function paymentInPath(
  request: FastifyRequest,
  { database, clock }: Farthing,
  code: Parameters<typeof paymentNotFound>[0],
): Promise<Payment> {
  const payment_id = pathParam(request, 'payment_id')
  const payment = await findPayment(database, request.account, payment_id, clock())
  if (!payment) throw paymentNotFound(code)
  return payment
}
