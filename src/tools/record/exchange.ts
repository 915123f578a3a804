/** The types of the record: requests and responses as they crossed the wire. */

import type { AccountTime, MachineTime } from '../../core/ports.ts'
import type { RawAttempt } from '../../pay/webhooks/attempts.ts'
import type { Caused } from '../../platform/http/request-state.ts'

export type Headers = Record<string, string>

/** `gap`: exchanges that were only counted. `action`: in the console or through /control: nothing crossed the wire. */
export type ExchangeKind = 'api' | 'page' | 'out' | 'gap' | 'action'

export type Actor = 'console' | 'control'

/** `gone`: the client had disconnected. `replaced`, `reset`: a plan sent another response, or ended the connection. */
export type Ending = 'sent' | 'gone' | 'replaced' | 'reset'

/** Differences between an attempt that was made by hand and the message's own attempts. */
export type ByHand = {
  /** `asked`: a copy, to find out how the receiver checks signatures. `probe`: to find out what the receiver does. */
  kind: 'again' | 'edited' | 'damaged' | 'asked' | 'probe'
  /** The kind of damage; of an `asked` copy the mistake with which it is signed. */
  damage?: string
  /** For an `asked` copy: how it is signed. For a probe: its rule, and how the message is special. */
  words?: string
  /** The message was signed with a key that is not the receiver's. */
  other_key?: true
  /** For a wrong signature: the receiver's answer to the newest undamaged send before, if there was one. */
  undamaged?: 'accepted' | 'refused'
}

/** The result of asking a receiver with copies of a message: how it checks signatures. */
export type AskResult = {
  /** `accepts`, `checks-nothing`, `body:newline`, `key:other-webhook`, `digest:base64`, `unknown` and the like. */
  cause: string
  sentence: string
  /** The changes to make, with the calls of frameworks. */
  advice: readonly { text: string; calls?: readonly { framework: string; call: string }[] }[]
  /** The number of copies that were sent. */
  posts: number
  /** The identifiers of the exchanges that show the cause. */
  evidence: string[]
}

/** The first RECORDED_BODY_BYTES of a body. */
export type KeptBody = {
  text: string
  /** The size of the whole body in bytes, if only its beginning is kept. */
  cut?: number
  /** The bytes are not UTF-8, and `text` is base64. */
  base64?: true
}

/** The facts that the rules of the check need of an exchange. They have their own column: a check reads no bodies. */
export type Facts = {
  /** The set of rules that looked at the exchange; absent if none did. */
  judged?: string
  /** The keys of the rules that the exchange breaks, and of the rules that failed by a mistake in them. */
  broken?: string[]
  unjudged?: string[]
  /** The exchange is about something that Farthing's own commands or the console made. */
  own?: true
  /** The request had an effect on its payment, or could have had one. */
  effect?: true
  /** The payment's new status and code: `failed P0010`. Ends with `again` or `final` if can_retry is true or false. */
  state?: string
  /** The state of a payment or refund in the response, written as `state`; in a message its code alone, if any. */
  shown?: string
  /** The status that the agreement had before the request used or cancelled it. */
  agreement?: string
  /** Of a POST under /v1: a hash that equal requests share. */
  content?: string
  /** Of a create, and of a page step that moved the payment: a hash of the payment's reference. */
  reference?: string
  created?: Created
  /** Of a refund: refund_amount_available guards it. */
  isGuarded?: true
  /** Of a search: a hash of its reference; by state the ends of the payments listed, '' if there are too many. */
  searched?: string
  listed?: Record<string, string>
  /** Of a search: the first of several pages, or a later one. */
  page?: 'first' | 'later'
  /** The webhook or refund that the request is about. */
  about?: string
  /** Of an attempt that somebody made by hand. `again`: the message as it is, to its own receiver. */
  hand?: 'again' | 'other'
  /** The rule that the probe is for. */
  probe?: string
  /** A test decides the receiver's answers. The receiver says so in a header, as those of `farthing/testing` do. */
  test?: true
  /** A message that `farthing listen` only printed. */
  printed?: true
  /** The status of the redirect that the attempt followed with a GET, or else of the last redirect. */
  redirected?: number
  /** A message as GOV.UK Pay sends it. */
  govuk?: true
}

export type Created = {
  mode: 'web' | 'moto_api' | 'agreement'
  /** It has an Idempotency-Key. */
  key?: true
  moto?: true
  /** The end of the identifier of the agreement that it uses or sets up. */
  agreement?: string
  /** Details of the payment in return_url: `reference`, `email`, or hashes of a name and a value of metadata. */
  told?: string[]
}

/** An exchange as the rules of the check see it. */
export type Evidence = Facts &
  Omit<ExchangeColumns, 'room' | 'method' | 'refused'> &
  Pick<ExchangeBody, 'code' | 'field' | ExchangeTiming>

/** The fields that are in the same column as the facts. */
export type ExchangeTiming = 'began' | 'at' | 'ms' | 'ended' | 'webhook_id' | 'result' | 'gap'

/** The part of an exchange that is stored as JSON. */
export type ExchangeBody = {
  facts?: Facts
  /** When the request began, in milliseconds: on the machine's clock, and on the account's. */
  began: MachineTime
  at: AccountTime
  /** The instance of the service that took part; absent from a gap. */
  instance?: string
  /** Without the query. For an attempt, the whole address. */
  path: string
  /** Without the question mark; '' for none. */
  query: string
  request_headers: Headers
  request_body?: KeptBody | undefined
  /** For an attempt: the text of the status line, such as `200 OK`, or the reason why there is none. */
  result?: string
  response_headers: Headers
  response_body?: KeptBody | undefined
  ms: number
  /** The key of the request; 'configured' for FARTHING_API_KEY, 'configured1' for the first of FARTHING_API_KEYS. */
  key_id?: string
  ended: Ending
  /** The plan that acted on the request. */
  plan?: string
  /** Of a refusal: its code, and the field or header that it is about. */
  code?: string | undefined
  field?: string | undefined
  /** A hash of the refusal's sentence without values: similar refusals have the same hash. */
  told?: string | undefined
  /** The payment's reference. */
  reference?: string | undefined
  caused?: Caused
  webhook_id?: string
  by_hand?: ByHand | undefined
  /** The body of the request is a card or another secret, so it is not kept. */
  secret_body?: true
  /** For an action: where it was done. */
  by?: Actor
  /** For an action that asked a receiver: the result. */
  asked?: AskResult
  gap?: Gap
}

/** Exchanges of one account that were only counted. Times in milliseconds, of the first and the last. */
export type Gap = { count: number; refused: number; from: number; to: number; bounds: Bound[] }

export const together = (one: Gap, other: Gap): Gap => ({
  count: one.count + other.count,
  refused: one.refused + other.refused,
  from: Math.min(one.from, other.from),
  to: Math.max(one.to, other.to),
  bounds: [...new Set([...one.bounds, ...other.bounds])],
})

/**
 * The reason why an exchange was only counted: a limit, or a write that failed or would take space from payments.
 * `damage`: its row cannot be read.
 */
export type Bound = 'account' | 'instance' | 'memory' | 'database' | 'damage'

/** The part of an exchange that is searched. */
type ExchangeColumns = {
  /** Begins with the machine's time of the write, so that a reader who polls gets late exchanges too. */
  exchange_id: string
  /** The account's room. */
  room: string
  payment_id: string | null
  message_id: string | null
  kind: ExchangeKind
  /** The operationId; of an attempt the event type. */
  operation: string
  method: string
  /** null without a response. */
  status: number | null
  /** A response of 4xx or 5xx, or an attempt that failed. */
  refused: boolean
}

export type Exchange = ExchangeColumns & ExchangeBody

/** An exchange gets its identifier when it is written. */
export type NewExchange = Omit<Exchange, 'exchange_id'>

/** An action in the form of its row. */
export type NewAction = NewExchange & { kind: 'action' }

/** The values of an action or a gap in place of a request and a response. */
export const NO_REQUEST = {
  message_id: null,
  status: null,
  refused: false,
  method: '',
  path: '',
  query: '',
  request_headers: {},
  response_headers: {},
  ms: 0,
  ended: 'sent',
} as const

/** An attempt by the service itself or by hand. A probe has no message_id: it is no message of the account. */
export type AttemptToRecord = Omit<RawAttempt, 'message_id'> & {
  message_id: string | null
  byHand?: ByHand
}
