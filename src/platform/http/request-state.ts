/** The state that a request carries from one step to the next. Only this file adds properties to Fastify's requests. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { ApiError } from '../../core/errors.ts'
import type { MachineTime } from '../../core/ports.ts'
import type { Area, RecordingHooks } from './areas.ts'
import type { Turn } from './leaving.ts'
import type { Place } from './places.ts'

/** The payment of a request, as the request left it. `secret` is the second half of its token. */
export type RecordedPayment = {
  payment_id: string
  secret: string
  given: { reference: string }
  /** `at` is the account's time. */
  events: readonly { status: string; code?: string; can_retry?: boolean; at: number }[]
  /** The tool that created it without the API. */
  origin?: string
}

/** The effects of a request: positions in the payment's events, from 0, and the webhook messages that it wrote. */
export type Caused = { events: number[]; messages: string[] }

export type Effects = {
  account: Account
  payment?: RecordedPayment | undefined
  caused?: Caused | undefined
  /** The status that the used or cancelled agreement had. */
  agreement?: string | undefined
}

/** The last plan of the account when its key was looked up. `unknown`: no key was looked up, or control is off. */
export type LastPlan = 'unknown' | 'none' | { plan_id: string }

declare module 'fastify' {
  interface FastifyRequest {
    /** The account of the bearer key or of the session. Only the areas `api`, `control` and `console` have it. */
    account: Account
    key_id: string
    lastPlan: LastPlan
    actingPlan: {
      plan_id: string
      /** Whether the plan replaced the response or reset the connection; absent if it did neither. */
      ended?: 'replaced' | 'reset'
      /** Whether it reset the connection before there was a response. */
      isUnanswered?: boolean
    } | null
    /** The place of a request that has arrived and has no response yet, if it counts towards REQUESTS_IN_PROGRESS. */
    place: Place | null
    /** The turn of a search that is at work. */
    turn: Turn | null
    /** The error that was sent as JSON, for the log line and the record. */
    refusal: ApiError | null
    /** The machine's time at which the request began, in milliseconds; 0 if the request is not recorded. */
    began: MachineTime
    effects: Effects | null
    /** Set for a request that reaches no endpoint. `route`: that of its path, if the path has other methods. */
    withoutEndpoint: { area: Area; route?: string; recording: RecordingHooks | undefined } | null
  }
}

/** Adds the properties early: a later one changes the shape of the object, which costs some 1 % of benchmark P1. */
export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('key_id', '')
  app.decorateRequest('lastPlan', 'unknown')
  app.decorateRequest('actingPlan', null)
  app.decorateRequest('place', null)
  app.decorateRequest('turn', null)
  app.decorateRequest('refusal', null)
  app.decorateRequest('began', 0)
  app.decorateRequest('effects', null)
  app.decorateRequest('withoutEndpoint', null)
}

/** Tells the record which payment a request is about, what the request caused, and which status its agreement had. */
export type RecordEffects = (effects: Effects) => void

/** Undefined for a request that is not recorded. */
export function recordEffectsOf(request: FastifyRequest): RecordEffects | undefined {
  if (request.began === 0) return undefined
  return effects => {
    request.effects = mergeEffects(request.effects, effects)
  }
}

/** One request may cause several changes of its payment. */
export function mergeEffects(before: Effects | null, more: Effects): Effects {
  if (!before) return more
  const [one, other] = [before.caused, more.caused]
  const both = one &&
    other && {
      events: [...one.events, ...other.events],
      messages: [...one.messages, ...other.messages],
    }
  // Each property by its name, which is faster than spreading two objects.
  return {
    account: more.account,
    payment: more.payment ?? before.payment,
    caused: both ?? other ?? one,
    agreement: more.agreement ?? before.agreement,
  }
}
