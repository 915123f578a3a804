import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { Caused, Ending } from '../../core/exchange.ts'

/** A payment that a request is about. `secret` is the second half of its token. */
export type NotedPayment = { payment_id: string; secret: string; given: { reference: string } }

/** Facts about a request that its handler knows. */
export type Noted = { account: Account; payment: NotedPayment; caused: Caused | undefined }

declare module 'fastify' {
  interface FastifyRequest {
    noted: Noted | null
    /** The machine's time at which it began, in milliseconds; 0 where it is not recorded. */
    began: number
    /** The effect of a plan on the response. */
    ended: Ending | null
    /** The plan that acted on it. */
    plan: string | null
  }
}

/**
 * Declares the properties of requests. Properties that are added later change the shape of the object: some 1 % of P1
 * for each.
 */
export function decorateForRecording(app: FastifyInstance): void {
  app.decorateRequest('noted', null)
  app.decorateRequest('began', 0)
  app.decorateRequest('ended', null)
  app.decorateRequest('plan', null)
  app.decorateRequest('key_id', '')
}

/** Receives the payment that a request is about, and the effects of the request, for the record. */
export type Note = (account: Account, payment: NotedPayment, caused?: Caused) => void

/** Undefined for a request that is not recorded. */
export function noteOn(request: FastifyRequest): Note | undefined {
  if (request.began === 0) return undefined
  return (account, payment, caused) => {
    request.noted = { account, payment, caused: together(request.noted?.caused, caused) }
  }
}

/** One request may cause several changes. */
export function together(before: Caused | undefined, more: Caused | undefined): Caused | undefined {
  if (!before || !more) return more ?? before
  return {
    events: [...before.events, ...more.events],
    messages: [...before.messages, ...more.messages],
  }
}
