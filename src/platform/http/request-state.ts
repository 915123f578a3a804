import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { Caused, Ending } from '../../core/exchange.ts'

/** The payment that a request is about. `secret` is the second half of its token. */
export type RecordedPayment = { payment_id: string; secret: string; given: { reference: string } }

/** What a request had to do with a payment, as its handler tells the record. */
export type Effects = { account: Account; payment: RecordedPayment; caused: Caused | undefined }

declare module 'fastify' {
  interface FastifyRequest {
    effects: Effects | null
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
  app.decorateRequest('effects', null)
  app.decorateRequest('began', 0)
  app.decorateRequest('ended', null)
  app.decorateRequest('plan', null)
  app.decorateRequest('key_id', '')
}

/** Tells the record which payment a request is about, and what the request caused. */
export type RecordEffects = (account: Account, payment: RecordedPayment, caused?: Caused) => void

/** Undefined for a request that is not recorded. */
export function recordEffectsOf(request: FastifyRequest): RecordEffects | undefined {
  if (request.began === 0) return undefined
  return (account, payment, caused) => {
    request.effects = mergeEffects(request.effects, { account, payment, caused })
  }
}

/** One request may cause several changes of its payment. */
export function mergeEffects(before: Effects | null, more: Effects): Effects {
  const [one, other] = [before?.caused, more.caused]
  if (!one || !other) return { ...more, caused: other ?? one }
  const caused = {
    events: [...one.events, ...other.events],
    messages: [...one.messages, ...other.messages],
  }
  return { ...more, caused }
}
