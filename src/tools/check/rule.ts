/** What the service does and GOV.UK Pay does not: a rule looks at one exchange, when it is recorded. */

/** `fail`: will break in production. `warn`: is likely to. `note`: to know before going live. */
export type Level = 'fail' | 'warn' | 'note'

export type Rule<Facts> = {
  /** What is kept with the exchange. Rules of one id differ in level or sentence. */
  key: string
  id: string
  level: Level
  sentence: string
  advice: string
  /** The subject of the row of docs/spec-gaps.md. */
  source: string
  breaks: (facts: Facts) => boolean
}

/** A request under /v1 and its response, before anything is masked. */
export type RequestFacts = {
  operation: string
  /** Milliseconds of the account's time. */
  at: number
  status: number | null
  code: string | undefined
  /** In lower case. */
  headers: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The fields of the JSON or of the form; {} without any. */
  body: Readonly<Record<string, unknown>>
}

/** An attempt to deliver a message. */
export type AttemptFacts = { event_type: string; failed: boolean }
