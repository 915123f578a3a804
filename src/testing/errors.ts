import type { Finding, UndeliveredMessage } from './public.d.ts'

export class ControlError extends Error {
  override name = 'ControlError'
  readonly status: number
  readonly code: string | undefined
  readonly field: string | undefined
  constructor(message: string, status: number, code?: string, field?: string) {
    super(message)
    this.status = status
    this.code = code
    this.field = field
  }
}

export class WaitError extends Error {
  override name = 'WaitError'
}

/** `note`: a line that says where the account is kept, or ''. */
export class Undelivered extends Error {
  override name = 'Undelivered'
  readonly messages: UndeliveredMessage[]
  constructor(messages: UndeliveredMessage[], waited: string, note: string) {
    const lines = messages.map(({ event_type, payment_id, delivery, attempts, next_attempt }) => {
      const results = attempts.map(({ result }) => result).reverse()
      return `  ${event_type} of ${payment_id}: ${delivery}, ${results.join(', then ') || 'no attempt yet'}${next_attempt ? `, again at ${next_attempt}` : ''}`
    })
    const pending = messages.filter(({ delivery }) => delivery === 'PENDING').length
    const later = messages.some(({ next_attempt }) => next_attempt)
    const counts = [
      pending < messages.length && `${messages.length - pending} given up`,
      pending > 0 &&
        `${pending} not delivered ${later ? "yet: some are sent again later in the account's time" : `after ${waited}`}`,
    ]
    super(`${counts.filter(Boolean).join(', ')}:\n${lines.join('\n')}${note}`)
    this.messages = messages
  }
}

export class CheckFailed extends Error {
  override name = 'CheckFailed'
  readonly findings: Finding[]
  constructor(findings: Finding[], note: string) {
    const lines = findings.map(
      ({ rule, level, times, sentence, advice, evidence }) =>
        `  ${rule} ${level}, seen ${times === 1 ? 'once' : `${times} times`}: ${sentence}\n    ${advice}\n    ${evidence.slice(0, 3).join(' ')}`,
    )
    super(`this would not work in production:\n${lines.join('\n')}${note}`)
    this.findings = findings
  }
}
