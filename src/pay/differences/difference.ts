/** One thing that GOV.UK Pay does in another way than the specification says. Everything that Farthing says of it follows from here. */
import type { Behaviour } from '../../core/account.ts'
import { isSuccess } from '../../core/http-status.ts'

/** The authorisation_mode of a payment. */
export type Mode = 'web' | 'moto_api' | 'agreement'

/** What one difference decides, under each behaviour: a value, or a pure function. */
export type Decision<Value> = Readonly<Record<Behaviour, Value>>

/** A request under /v1 and its answer. */
export type Asked = {
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
}

/**
 * `fail`: an integration that meets it will break in production. `warn`: it is likely to. `note`: to know before going
 * live.
 */
export type Level = 'fail' | 'warn' | 'note'

/** The rule of the check that finds it: a request that has another answer under the other behaviour breaks it. */
export type DifferenceRule<Value> = {
  /** Such as P1. */
  id: string
  level: Level
  advice: string
  /** The requests that could break it, by their operations, and what is said where there was none. Without `operation`: only those that do. */
  among: { operation?: string | RegExp; modes?: readonly Mode[]; lacking: string }
  /** What the decision makes of the request: a status with its code, or what is done. Undefined: it is about something else. */
  answer(decided: Value, asked: Asked): string | undefined
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
   * Absent where only the shape of answers differs, or where `noRule` says why one request cannot decide it, or which rule
   * of several requests does, such as P13.
   */
  rule?: DifferenceRule<Value>
  noRule?: string
}

export type Difference<Value = unknown> = Decision<Value> & { about: About<Value> }

export const difference = <Value>(
  about: About<Value>,
  decision: Decision<Value>,
): Difference<Value> => ({ ...decision, about })

/** What accounts of the behaviour do, for documents. */
export const wordsOf = (
  { about }: { about: Pick<About<never>, 'specification' | 'govukPay'> },
  behaviour: Behaviour,
): string => `${behaviour === 'specification' ? about.specification : about.govukPay}.`

/** Whether it was accepted here: most rules say of such a request that GOV.UK Pay refuses it. */
export const hasSucceeded = ({ status }: Pick<Asked, 'status'>): boolean => isSuccess(status)

/** Whether the request has another answer under the other behaviour. */
export function differs(each: Difference, asked: Asked): boolean {
  const { rule } = each.about
  return rule?.answer(each.specification, asked) !== rule?.answer(each['govuk-pay'], asked)
}
