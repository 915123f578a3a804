/** A plan for future payments or requests. Pure rules; nothing is read or written here. */
import { isDeepStrictEqual } from 'node:util'
import type { Behaviour } from '../../core/account.ts'
import { type Code, faultCodeOf, isPlanned, meanings, onlyByPlan } from '../../core/codes.ts'
import * as errors from '../../core/errors.ts'
import { cardFault } from '../../pay/differences/cards.ts'
import { type NewPayment, ofScenario, type Scenario } from '../../pay/payments/payment.ts'
import { impossibleFor } from '../../pay/payments/scenario.ts'
import type { Json } from '../../platform/http/fields.ts'

/** An error of the API. Without `code` its status decides the code, and for 500 the operation. */
export type PlannedAnswer = { status: number; code?: Code }

export type Plan = Scenario & {
  plan_id: string
  /** The room of its account. */
  room: string
  /** The number of requests that it matched, and the number of times that it acted. */
  seen: number
  acted: number
  /** An operationId, or MESSAGE; undefined for every operation. */
  on?: string | undefined
  /** Fields with which the payment must have been created. Of metadata only these keys count. */
  given?: Json | undefined
  payment_id?: string | undefined
  /** The number of matching requests that pass first. */
  skip: number
  /** The number of times that it then acts. */
  times: number | 'always'
  /** The reason why the plan did not act on the last payment on which it should have acted. */
  note?: string
  // A plan has a scenario or holds payments, or it is a fault and has any of these:
  /** `before` the handler runs, or `after` the request has had its effect, so that only the response changes. */
  when?: 'before' | 'after' | undefined
  /** Milliseconds, or the least and the most. */
  delay?: number | [least: number, most: number] | undefined
  answer?: PlannedAnswer | undefined
  reset?: true | undefined
}

/** The operation that creates payments. Plans compare the fields of its body. */
export const CREATION = 'createPayment'
export const REFUND = 'refundPayment'

export const CAPTURE = 'capturePayment'
/** No operation: the first attempt to deliver a webhook message. */
export const MESSAGE = 'message'

/** Whether the plan says how a payment, capture or refund ends. It has no fault then. */
export const setsScenario = (plan: Plan): boolean =>
  ofScenario.some(name => plan[name] !== undefined)

/** The reason why the plan cannot act on this payment, for example its mode; undefined if it can. */
export function noteOn(plan: Plan, given: NewPayment): string | undefined {
  if (plan.on !== CREATION) return undefined
  const impossible = impossibleFor({ mode: given.authorisation_mode }, plan)
  return (
    impossible && `it did not act on ${given.reference}: ${impossible.field} ${impossible.rule}`
  )
}

/** The parts of a request that plans compare. `given` is undefined if the request concerns no payment. */
export type PlanSubject = { operation: string; payment_id?: string; given?: Json | undefined }

/** A plan that a request matched, with its counts after the request. `note`: the reason if it should act but cannot. */
export type Counted = { plan: Plan; seen: number; acted: number; note?: string }

/**
 * Checks the plans in their order. A matching plan counts the request. It acts if enough requests have passed and it has
 * not acted often enough, unless `refuse` returns a reason why it cannot. The first plan that acts ends the search. All
 * plans in `counted` matched.
 */
export function evaluate(
  plans: readonly Plan[],
  subject: PlanSubject,
  refuse?: (plan: Plan) => string | undefined,
): { acting: Plan | undefined; counted: Counted[] } {
  const counted: Counted[] = []
  for (const plan of plans) {
    if (!matches(plan, subject)) continue
    const seen = plan.seen + 1
    const isLeft = plan.times === 'always' || plan.acted < plan.times
    const isDue = seen > plan.skip && isLeft
    const note = isDue ? refuse?.(plan) : undefined
    const acts = isDue && note === undefined
    counted.push({ plan, seen, acted: plan.acted + Number(acts), ...(note && { note }) })
    if (acts) return { acting: plan, counted }
  }
  return { acting: undefined, counted }
}

export const matches = ({ on, given = {}, payment_id }: Plan, subject: PlanSubject): boolean =>
  (on === undefined || on === subject.operation) &&
  (payment_id === undefined || payment_id === subject.payment_id) &&
  Object.entries(given).every(([name, value]) => isGiven(name, value, subject.given?.[name]))

function isGiven(name: string, wanted: unknown, value: unknown): boolean {
  if (typeof wanted !== 'object') return wanted === value
  if (name !== 'metadata') return isDeepStrictEqual(wanted, value)
  const metadata = (value ?? {}) as Json // metadata is an object
  const wantedMetadata = wanted as Json
  return Object.keys(wantedMetadata).every(key => metadata[key] === wantedMetadata[key])
}

export const asksForPayment = ({ given, payment_id }: Pick<Plan, 'given' | 'payment_id'>) =>
  payment_id !== undefined || Object.keys(given ?? {}).length > 0

/** The fields of a payment by the names of the request that created it. */
export const fieldsOf = ({ prefilled, ...given }: NewPayment): Json => ({
  ...given,
  ...(prefilled && { prefilled_cardholder_details: prefilled }),
})

/** The fractional parts of its multiples are spread evenly from 0 to 1. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2

/** The delay of this request in milliseconds, by its count, so that every instance and every run has the same. */
export function delayOf({ delay = 0 }: Pick<Plan, 'delay'>, seen: number): number {
  if (typeof delay === 'number') return delay
  const [least, most] = delay
  return least + Math.floor(((seen * GOLDEN_RATIO) % 1) * (most - least + 1))
}

/** The errors of Farthing itself, by the status that a plan names without a code. */
export const ownErrors: Record<number, () => errors.ApiError> = {
  401: errors.unknownBearerKey,
  429: errors.tooManyRequests,
  500: errors.unexpectedFault,
  503: errors.overloaded,
}

export function errorOf(
  answer: PlannedAnswer,
  operation: string,
  behaviour: Behaviour,
): errors.ApiError {
  const { status } = answer
  const fault = operation === 'authorisePayment' ? cardFault[behaviour] : faultCodeOf(operation)
  const code = answer.code ?? (status === 500 ? fault : undefined)
  const own = ownErrors[status]?.()
  if (own && (code === undefined || code === own.code)) return own
  const text = code && isPlanned(code) ? onlyByPlan[code].text : meanings[code ?? 'P0999']
  return new errors.ApiError(status, code ?? 'P0999', text)
}
