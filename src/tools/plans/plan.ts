/** A plan for future payments or requests. Pure rules; nothing is read or written here. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  ApiError,
  type Code,
  meanings,
  overloaded,
  tooManyRequests,
  unexpectedFault,
  unknownBearerKey,
} from '../../core/errors.ts'
import type { NewPayment, Scenario } from '../../pay/payments/payment.ts'
import type { Json } from '../../platform/http/fields.ts'

/** `before` the handler runs, or `after` the request has had its effect, so that only the response changes. */
type When = 'before' | 'after'

/** An error of the API. The code is given where the status has none of its own. */
export type PlannedAnswer = { status: number; code?: Code }

export type Plan = {
  plan_id: string
  /** The room of its account. */
  room: string
  /** The number of requests that it matched, and the number of times that it acted. */
  seen: number
  acted: number
  /** An operationId; undefined for every operation. */
  on?: string
  /** Fields with which the payment must have been created; of metadata, these keys. */
  given?: Json
  payment_id?: string
  /** The number of matching requests that pass first. */
  skip: number
  /** The number of times that it then acts. */
  times: number | 'always'
  probability: number
  seed: number
  /** A plan has a scenario, or any of the fields below. */
  scenario?: Scenario
  when?: When
  /** Milliseconds, or the least and the most. */
  delay?: number | [least: number, most: number]
  answer?: PlannedAnswer
  reset?: true
}

/** The operation that creates payments. Plans compare the fields of its body. */
export const CREATION = 'createPayment'

/** The facts about a request that plans compare. `given` is undefined if the request concerns no payment. */
export type Facts = { operation: string; payment_id?: string; given?: Json }

/** A plan that a request matched, with its counts after the request. */
export type Counted = { plan: Plan; seen: number; acted: number }

/** `acting` is the plan that acts, if one does. All of `counted` matched. */
type Evaluation = { acting: Plan | undefined; counted: Counted[] }

/**
 * Checks the plans in their order. A matching plan counts the request. It acts if enough requests have passed, it has
 * not acted often enough, and its draw succeeds. The first plan that acts ends the search.
 */
export function evaluate(plans: readonly Plan[], facts: Facts): Evaluation {
  const counted: Counted[] = []
  for (const plan of plans) {
    if (!matches(plan, facts)) continue
    const seen = plan.seen + 1
    const isLeft = plan.times === 'always' || plan.acted < plan.times
    const acts = seen > plan.skip && isLeft && draw(plan.seed, seen).chance < plan.probability
    counted.push({ plan, seen, acted: plan.acted + Number(acts) })
    if (acts) return { acting: plan, counted }
  }
  return { acting: undefined, counted }
}

export const matches = ({ on, given = {}, payment_id }: Plan, facts: Facts): boolean =>
  (on === undefined || on === facts.operation) &&
  (payment_id === undefined || payment_id === facts.payment_id) &&
  Object.entries(given).every(([name, value]) => isGiven(name, value, facts.given?.[name]))

function isGiven(name: string, wanted: unknown, value: unknown): boolean {
  if (typeof wanted !== 'object') return wanted === value
  if (name !== 'metadata') return isDeepStrictEqual(wanted, value)
  const metadata = (value ?? {}) as Json // metadata is an object
  return Object.entries(wanted as Json).every(([key, each]) => metadata[key] === each)
}

/** True if the payment of a request matters to the plan. */
export const asksForPayment = ({ given, payment_id }: Plan): boolean =>
  payment_id !== undefined || Object.keys(given ?? {}).length > 0

/** The fields of a payment by the names of the request that created it. */
export const fieldsOf = ({ prefilled, ...given }: NewPayment): Json => ({
  ...given,
  ...(prefilled && { prefilled_cardholder_details: prefilled }),
})

/** Two fractions from 0 up to 1. They are a hash, so that every instance draws the same, and so can a test. */
function draw(seed: number, seen: number): { chance: number; share: number } {
  const hash = createHash('sha256').update(`${seed}:${seen}`).digest()
  return { chance: hash.readUInt32BE(0) / 2 ** 32, share: hash.readUInt32BE(4) / 2 ** 32 }
}

/** The milliseconds for which the plan holds this request. */
export function delayOf({ delay = 0, seed }: Plan, seen: number): number {
  if (typeof delay === 'number') return delay
  const [least, most] = delay
  return least + Math.floor(draw(seed, seen).share * (most - least + 1))
}

/** Statuses that have an error of their own. */
export const ownErrors: Record<number, () => ApiError> = {
  401: unknownBearerKey,
  429: tooManyRequests,
  500: unexpectedFault,
  503: overloaded,
}

export const errorOf = ({ status, code }: PlannedAnswer): ApiError =>
  ownErrors[status]?.() ?? new ApiError(status, code ?? 'P0999', meanings[code ?? 'P0999'])
