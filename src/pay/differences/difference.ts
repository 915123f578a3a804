/** One thing that GOV.UK Pay does in another way than the specification says. Everything that Farthing says of it follows from here. */
import type { Behaviour } from '../../core/account.ts'
import { isSuccess } from '../../core/http-status.ts'

/** The authorisation_mode of a payment. */
export type Mode = 'web' | 'moto_api' | 'agreement'

/** What one difference decides, under each behaviour: a value, or a pure function. */
export type Decision<Value> = Readonly<Record<Behaviour, Value>>

/** A request under /v1 and its answer, or a message and the answer of its receiver. */
export type Asked = {
  /** Of a message its event type. */
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
  /** The error that was the answer. */
  refusal: { code: string; message: string } | undefined
  /** The body of the answer; '' without one. */
  response: string
  /** When it began, in milliseconds. */
  began: number
  /** Milliseconds of the account's time since its payment became success; NaN if it has not. */
  sinceSuccess: number
  /** The status that its agreement had, if it uses or cancels one. */
  agreement?: string
}

/**
 * `fail`: an integration that meets it will break in production. `warn`: it is likely to. `note`: to know before going
 * live.
 */
export type Level = 'fail' | 'warn' | 'note'

/** The rule of the check that finds it: a request, or a message, of which production makes something else breaks it. */
export type DifferenceRule<Value> = {
  /** Such as P1. */
  id: string
  level: Level
  advice: string
  /** It looks at requests that were refused here too. Others say of one that was accepted that production refuses it. */
  whenever?: true
  /** The requests, or messages, that could break it, by their operations, and what is said where there was none. Without `operation`: only those that do. */
  among: {
    operation?: string | RegExp
    modes?: readonly Mode[]
    messages?: true
    lacking: string
  }
  /** What the decision makes of it. Production makes the same of what it is not about. */
  answer(decided: Value, asked: Asked): string | boolean | undefined
}

type About<Value> = {
  /** In a few words. */
  subject: string
  /** What each does, as sentences without a full stop at the end. */
  specification: string
  govukPay: string
  /** File and line in its public source, or page and heading of its documentation. */
  source: string
  /**
   * Absent where only the shape of answers differs, or where `noRule` says why one request cannot decide it, or which other
   * rule does, such as P13.
   */
  rule?: DifferenceRule<Value>
  noRule?: string
}

/** `production`: what it decides where neither behaviour does so, such as a live account or another payment provider. */
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

/** What a rule about return_url looks at. */
export const WEB = {
  operation: 'createPayment',
  modes: ['web'],
  lacking: 'No payment was created with a return_url.',
} as const

/** What accounts of the behaviour do, for documents. */
export const wordsOf = (
  { about }: { about: Pick<About<never>, 'specification' | 'govukPay'> },
  behaviour: Behaviour,
): string => `${behaviour === 'specification' ? about.specification : about.govukPay}.`

/** Whether production would answer otherwise than an account of this behaviour does. */
export function differs(each: Difference, behaviour: Behaviour, asked: Asked): boolean {
  const { rule } = each.about
  if (!rule || !(rule.whenever || isSuccess(asked.status))) return false
  const production = each.production ?? each['govuk-pay']
  return rule.answer(each[behaviour], asked) !== rule.answer(production, asked)
}
