import type { FastifyRequest } from 'fastify'
import type { Account } from '../accounts/account.ts'
import type { Caused } from './exchange.ts'

/** A payment that a request is about. `secret` is the second half of its token. */
export type NotedPayment = { payment_id: string; secret: string; given: { reference: string } }

/** What the handler of a request has found out about it. */
export type Noted = { account: Account; payment: NotedPayment; caused: Caused | undefined }

declare module 'fastify' {
  interface FastifyRequest {
    noted?: Noted
    /** The machine's time at which it began, where it may be recorded. */
    began?: number
  }
}

/** Takes the payment that a request is about, and what the request caused, for the record. */
export type Note = (account: Account, payment: NotedPayment, caused?: Caused) => void

export const noteOn =
  (request: FastifyRequest): Note =>
  (account, payment, caused) => {
    request.noted = { account, payment, caused: caused ?? request.noted?.caused }
  }
