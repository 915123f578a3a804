/** What other floors say of a request and of an attempt, so that somebody can record it. */

import type { AccountTime, MachineTime, ReceiverResponse } from './ports.ts'

/** The effects of a request: positions in the payment's events, from 0, and the webhook messages that it wrote. */
export type Caused = { events: number[]; messages: string[] }

export type Headers = Record<string, string>

/** An attempt to deliver a message, before it is masked. The body of the response may still be arriving. */
export type RawAttempt = {
  /** Milliseconds: the machine's time and the account's at which it began. */
  began: MachineTime
  at: AccountTime
  ms: number
  event_type: string
  payment_id: string
  /** null for a probe, which is no message of the account. */
  message_id: string | null
  webhook_id: string
  url: string
  headers: Headers
  body: string
  failed: boolean
  status: number | null
  result: string
  answer: Promise<ReceiverResponse> | undefined
}
