/** One thing that GOV.UK Pay does in another way than the specification says. Everything that Farthing says of it follows from here. */
import type { Behaviour } from '../../core/account.ts'
import { isSuccess } from '../../core/http-status.ts'

/** The authorisation_mode of a payment. */
export type Mode = 'web' | 'moto_api' | 'agreement'

/** What one difference decides, under each behaviour: a value, or a pure function. */
export type Decision<Value> = Readonly<Record<Behaviour, Value>>

/** What production decides where neither behaviour does, such as a live account or another payment provider. */
type InProduction<Value> = { readonly production?: Value }

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
  /** The requests, or messages, that could break it, by their operations, and what is said where there was none. Without `operation`: only those that do. */
  among: {
    operation?: string | RegExp
    modes?: readonly Mode[]
    messages?: true
    lacking: string
  }
  /** What the decision makes of it: a status with its code, or what is done. Undefined: it is about something else. */
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
   * Absent where only the shape of answers differs, or where `noRule` says why one request cannot decide it, or which other
   * rule does, such as P13.
   */
  rule?: DifferenceRule<Value>
  noRule?: string
}

export type Difference<Value = unknown> = Decision<Value> &
  InProduction<Value> & { about: About<Value> }

export const difference = <Value>(
  about: About<Value>,
  decision: Decision<Value> & InProduction<Value>,
): Difference<Value> => ({ ...decision, about })

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

/** Whether it was accepted here: most rules say of such a request that GOV.UK Pay refuses it. */
export const hasSucceeded = ({ status }: Pick<Asked, 'status'>): boolean => isSuccess(status)

/** Whether production would answer otherwise than an account of this behaviour does. */
export function differs(each: Difference, behaviour: Behaviour, asked: Asked): boolean {
  const { production = each['govuk-pay'], about } = each
  return about.rule?.answer(each[behaviour], asked) !== about.rule?.answer(production, asked)
}
