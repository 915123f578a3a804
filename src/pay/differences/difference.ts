/** A difference between GOV.UK Pay and the specification. All that Farthing says about it follows from here. */
import type { Behaviour } from '../../core/account.ts'
import { isSuccess } from '../../core/http-status.ts'

/** The authorisation_mode of a payment. */
export type Mode = 'web' | 'moto_api' | 'agreement'

/** The decision of a difference under each behaviour: a value, or a pure function. */
export type Decision<Value> = Readonly<Record<Behaviour, Value>>

/** A value that is made for each behaviour. */
export const underEach = <Value>(make: (behaviour: Behaviour) => Value): Decision<Value> => ({
  specification: make('specification'),
  'govuk-pay': make('govuk-pay'),
})

/** A request under /v1 and its answer, or a message and the answer of its receiver. */
export type Asked = {
  /** The operationId of the request, or the event type of the message. */
  operation: string
  method: string
  url: string
  /** By name, in lower case. */
  headers: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The body; '' without one. */
  text: string
  /** The fields of the JSON or of the form; {} without any. */
  body: Readonly<Record<string, unknown>>
  status: number | null
  /** The error in the answer. */
  refusal: { code: string; message: string } | undefined
  /** The body of the answer; '' without one. */
  response: string
  /** When the request began, in milliseconds. */
  began: number
  /** Milliseconds of the account's time since the payment became success; NaN if it did not. */
  sinceSuccess: number
  /** The status of the agreement that the request used or cancelled. */
  agreement?: string
}

/**
 * `fail`: such an integration will break in production. `warn`: it is likely to. `note`: worth knowing before going
 * live.
 */
export type Level = 'fail' | 'warn' | 'note'

/** The rule of the check: a request or message breaks it if production treats it differently. */
export type DifferenceRule<Value> = {
  /** Such as P1. */
  id: string
  level: Level
  advice: string
  /** Requests that were refused here count too. Without it only accepted ones do, which production would refuse. */
  whenever?: true
  /**
   * Operations whose requests or messages could break the rule, and the sentence if there were none. Default: only
   * requests or messages that do break it.
   */
  among: {
    operation?: string | RegExp
    modes?: readonly Mode[]
    messages?: true
    lacking: string
  }
  /** The effect of the decision on a request. It is equal for all decisions if the rule does not apply. */
  answer(decided: Value, asked: Asked): string | boolean | undefined
}

type About<Value> = {
  /** In a few words. */
  subject: string
  /** The two behaviours, as sentences without a full stop at the end. */
  specification: string
  govukPay: string
  /** File and line in its public source, or page and heading of its documentation. */
  source: string
  /**
   * Absent if only the shape of answers differs, or if `noRule` is there: the reason why no request shows the
   * difference, or the rule that finds it, such as P13.
   */
  rule?: DifferenceRule<Value>
  noRule?: string
}

/** `production`: the decision of production alone, such as for a live account or another payment provider. */
type Decides<Value> = Decision<Value> & { readonly production?: Value }

export type Difference<Value = unknown> = Decides<Value> & { about: About<Value> }

export const difference = <Value>({
  decides,
  ...about
}: About<Value> & { decides: Decides<Value> }): Difference<Value> => ({ ...decides, about })

export const CREATES = { operation: 'createPayment', lacking: 'No payment was created.' } as const

export const CARDS = {
  operation: 'authorisePayment',
  lacking: 'No card was posted to /v1/auth and accepted.',
} as const

/** The requests of a rule about return_url. */
export const WEB = {
  operation: 'createPayment',
  modes: ['web'],
  lacking: 'No payment was created with a return_url.',
} as const

/** The sentence about accounts of this behaviour, for documents. */
export const wordsOf = (
  { about }: { about: Pick<About<never>, 'specification' | 'govukPay'> },
  behaviour: Behaviour,
): string => `${behaviour === 'specification' ? about.specification : about.govukPay}.`

/** Whether production would answer differently from an account of this behaviour. */
export function differs(difference: Difference, behaviour: Behaviour, asked: Asked): boolean {
  const { rule } = difference.about
  if (!rule || !(rule.whenever || isSuccess(asked.status))) return false
  const production = difference.production ?? difference['govuk-pay']
  return rule.answer(difference[behaviour], asked) !== rule.answer(production, asked)
}
