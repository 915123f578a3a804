import type { FastifyRequest } from 'fastify'
import type { Farthing } from '../context.ts'
import { paymentNotFound } from '../errors.ts'
import { pathParam } from '../http/endpoint.ts'
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
