/** What is recorded: requests and responses as they crossed the wire. */

import type { AccountTime, MachineTime } from '../../core/ports.ts'
import type { RawAttempt } from '../../pay/webhooks/attempts.ts'
import type { Caused } from '../../platform/http/request-state.ts'

export type Headers = Record<string, string>

/** `gap`: exchanges that were only counted. `action`: done in the console or through /control, so nothing crossed the wire. */
export type ExchangeKind = 'api' | 'page' | 'out' | 'gap' | 'action'

export type Actor = 'console' | 'control'

/** `gone`: the client had disconnected before. `replaced`, `reset`: a plan sent another response, or ended the connection. */
export type Ending = 'sent' | 'gone' | 'replaced' | 'reset'

/** Differences between an attempt that was made by hand and those of the message. */
export type ByHand = {
  /** `asked`: a copy, to find out how the receiver checks signatures. `probe`: made to find out what it does with it. */
  kind: 'again' | 'edited' | 'damaged' | 'asked' | 'probe'
  /** The kind of damage; of an `asked` copy the mistake with which it is signed. */
  damage?: string
  /** Of an `asked` copy: how it is signed. Of a probe: its rule, and what is special about it. */
  words?: string
  /** It was signed with a key that is not the receiver's. */
  other_key?: true
  /** Of one with a wrong signature: what the receiver answered to the newest undamaged one before it, if there was one. */
  undamaged?: 'accepted' | 'refused'
}

/** What a receiver turned out to check, when copies of a message were sent to find that out. */
export type AskResult = {
  /** `accepts`, `checks-nothing`, `body:newline`, `key:other-webhook`, `digest:base64`, `unknown` and the like. */
  cause: string
  sentence: string
  /** What to change, with the calls of frameworks. */
  advice: readonly { text: string; calls?: readonly { framework: string; call: string }[] }[]
  /** How many copies were sent. */
  posts: number
  /** The exchanges that show it. */
  evidence: string[]
}

/** The first RECORDED_BODY_BYTES of a body. */
export type KeptBody = {
  text: string
  /** The size of the whole body in bytes, where only its beginning is kept. */
  cut?: number
  /** The bytes are not UTF-8, and `text` is base64. */
  base64?: true
}

/** What the rules of the check need of an exchange. They are kept in a column of their own, so that a check reads no bodies. */
export type Facts = {
  /** Which rules looked at it; absent where none did. */
  judged?: string
  /** The keys of those that it breaks, and of those that failed by a mistake in them. */
  broken?: string[]
  unjudged?: string[]
  /** It is about something that Farthing's own commands or the console made. */
  own?: true
  /** It had an effect on its payment, or could have had one. */
  effect?: true
  /** Status of the payment after it, and code, where it changed: `failed P0010`. Ends with `again` or `final` if can_retry is true or false. */
  state?: string
  /** What the client or receiver was told of the state of the payment or refund, written as `state`; of a message the code alone, if it has one. */
  shown?: string
  /** The status that the agreement had which the request uses or cancels. */
  agreement?: string
  /** Of a POST under /v1: the same for equal requests. */
  content?: string
  /** Of a create, and of what changed a payment on the pages: a hash of the payment's reference. */
  reference?: string
  created?: Created
  /** Of a refund: refund_amount_available guards it. */
  isGuarded?: true
  /** Of a search: a hash of the reference that it searched for; by state the ends of the payments that it listed, without ends if these are too many. */
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
  /** A test decides what the receiver answers: it says so in the header that those of `farthing/testing` send. */
  test?: true
  /** A message that `farthing listen` only printed. */
  printed?: true
  /** The status of the redirect that the attempt followed with a GET, or else of the last one. */
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
  /** What return_url tells of the payment: `reference`, `email`, or hashes of a name and a value of metadata. */
  told?: string[]
}

/** An exchange as the rules of the check see it. */
export type Evidence = Facts &
  Omit<ExchangeColumns, 'room' | 'method' | 'refused'> &
  Pick<ExchangeBody, 'code' | 'field' | ExchangeTiming>

/** What is in the same column as the facts. */
export type ExchangeTiming = 'began' | 'at' | 'ms' | 'ended' | 'webhook_id' | 'result' | 'gap'

/** The part of an exchange that is stored as JSON. */
export type ExchangeBody = {
  facts?: Facts
  /** When the request began, in milliseconds: on the machine's clock, and on the account's. */
  began: MachineTime
  at: AccountTime
  /** Which instance of the service took part; absent from a gap. */
  instance?: string
  /** Without the query. For an attempt, the whole address. */
  path: string
  /** Without the question mark; '' for none. */
  query: string
  request_headers: Headers
  request_body?: KeptBody
  /** For an attempt: the text of the status line, such as `200 OK`, or the reason why there is none. */
  result?: string
  response_headers: Headers
  response_body?: KeptBody
  ms: number
  /** The key that the request was made with; 'configured' for FARTHING_API_KEY, 'configured1' for the first of FARTHING_API_KEYS. */
  key_id?: string
  ended: Ending
  /** The plan that acted on the request. */
  plan?: string
  /** Of a refusal: its code and what it is about. */
  code?: string
  field?: string
  /** A hash of its sentence without values: alike refusals have the same. */
  told?: string
  /** The payment's reference. */
  reference?: string
  caused?: Caused
  webhook_id?: string
  by_hand?: ByHand
  /** The body of the request is a card or another secret, so it is not kept. */
  secret_body?: true
  /** For an action: where it was done. */
  by?: Actor
  /** For the action that asked a receiver: the answer. */
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
 * Why an exchange was only counted: a limit, or a write of the record that failed or would take room from payments.
 * `damage`: its row cannot be read.
 */
export type Bound = 'account' | 'instance' | 'memory' | 'database' | 'damage'

/** The part that is searched. */
type ExchangeColumns = {
  /** Begins with the machine's time at which it was written, so that a reader who polls the record also gets exchanges that were written late. */
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

/** An action is its row. */
export type NewAction = NewExchange & { kind: 'action' }

/** What an action and a gap have instead of a request and a response. */
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

/** Made by the service itself or by hand. A probe is no message of the account. */
export type AttemptToRecord = Omit<RawAttempt, 'message_id'> & {
  message_id: string | null
  byHand?: ByHand
}
