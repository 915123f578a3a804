/// <reference lib="esnext.disposable" />
/** The public types of `farthing/testing`. They need the library es2022 of TypeScript and no other types. */
import type {
  CheckReport,
  Finding,
  LoggedRequest,
  Payment,
  UndeliveredMessage,
} from './resources.ts'

export type * from './resources.ts'

/** The choices of a user on the hosted pages, and the ends of a payment. */
export type Choice = 'success' | 'declined' | 'error' | 'cancel'
export type Status = Payment['state']['status']
export type EventType = UndeliveredMessage['event_type']
/** How the service answers where the specification and GOV.UK Pay differ. */
export type Behaviour = 'specification' | 'govuk-pay'
/** Milliseconds, or text such as '5s', '90m' or '7d'. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`
/** A Date, or ISO 8601 text with seconds and a zone, such as '2026-03-29T00:59:58Z'. */
export type Moment = Date | string

/**
 * Starts the service on a thread of this process: with a database in memory, on a free port of 127.0.0.1, and with
 * control on. Needs Node 24.18.1 or newer. The thread does not keep the process alive.
 */
export declare function startFarthing(options?: StartOptions): Promise<Farthing>

/**
 * Connects to a service that runs elsewhere: in another process, a container or a shared environment. Without
 * arguments it reads FARTHING_URL and FARTHING_API_KEY. Needs Node 20.19 or newer. Rejects if control is off there.
 */
export declare function connectFarthing(to?: { url?: string; key?: string }): Promise<Farthing>

export interface StartOptions {
  /** Without it, a free port. */
  port?: number
  /** '127.0.0.1' by default. */
  host?: string
  /** As FARTHING_BEHAVIOUR; 'specification' by default. */
  behaviour?: Behaviour
  /** As DATABASE_URL; 'sqlite::memory:' by default. */
  database?: string
  /** As FARTHING_BASE_URL and FARTHING_PAGES_URL. Without them links follow the request. */
  baseUrl?: string
  pagesUrl?: string
  /** As FARTHING_CALLBACK_HOSTS and FARTHING_RETURN_HOSTS; by default the names of this machine, with any port. */
  callbackHosts?: string
  returnHosts?: string
  /** The clock of the first account stands still at this time, and so do those of accounts that are made from it. */
  at?: Moment
  /** Makes identifiers, tokens and keys the same in each run; with `at` and `baseUrl` responses and messages too. */
  seed?: number | string
  /** The least level of log lines, which go to standard error; 'silent' by default. */
  log?: 'silent' | 'error' | 'warn' | 'info'
}

/** The service, and the account of the key with which it was started or connected to. */
export interface Farthing extends Account {
  /** Makes a test account with a key of its own. It takes about as long as making a payment. */
  account(options?: AccountOptions): Promise<Account>
  /** Environment variables with which other processes can `connectFarthing()`. */
  readonly env: { FARTHING_URL: string; FARTHING_API_KEY: string }
  /** Ends the service, the receivers and the accounts that were started or made here. May be called twice. */
  stop(): Promise<void>
}

export interface AccountOptions {
  name?: string
  /** By default the behaviour of the account that makes it. */
  behaviour?: Behaviour
  at?: Moment
  frozen?: boolean
  /**
   * The account is not ended if a wait or its check has failed. Their errors then have a link to its pages in the
   * console, which open with the key of the account that made it, until 7 days have passed or the service has stopped.
   */
  keepOnFailure?: boolean
}

/** Ended by `await using`. */
export interface Account extends AsyncDisposable {
  readonly name: string
  /** Base URL and key for the application under test. */
  readonly url: string
  readonly key: string

  /** Makes a payment in any state: `payment({ scenario: 'success', refund: 500 })`. Every field is optional. */
  payment(given?: NewPayment): Promise<Payment>
  /**
   * Acts as a user on the hosted pages, and ends a charge, a capture or refunds that are held: a charge as its plan
   * said, otherwise with success. Resolves after the webhooks were delivered.
   */
  complete(payment: Payment | string, how?: Choice | Completion): Promise<Payment>
  /**
   * The newest payment that matches. Waits until a payment matches, unless one does already. `status` also matches a
   * payment that had this status before. Text is a payment_id or a reference. Rejects with a WaitError that describes
   * the state found instead.
   */
  waitForPayment(which: string | Which | Payment, options?: WaitOptions): Promise<Payment>
  /** Sets what happens to future payments and requests: once, unless the plan says otherwise. */
  plan(plan: NewPlan): Promise<Plan>
  /** Starts a receiver in this process and registers it as a webhook of the account. It checks signatures. */
  receive(options?: ReceiveOptions): Promise<Receiver>
  readonly clock: Clock
  /** The requests of the application, oldest first. */
  requests(which?: WhichRequests): Promise<LoggedRequest[]>
  /**
   * Resolves when every message of the account has been delivered. Rejects with an Undelivered that lists the others:
   * given up, not delivered in time, or to be sent again later in the account's time, for which it does not wait.
   */
  settled(options?: WaitOptions): Promise<void>
  /** Finds what would break in production. Rejects with a CheckFailed for a broken rule of level `failOn` or worse. */
  check(options?: CheckOptions): Promise<CheckReport>
  /** Empties the account. Its key and behaviour stay. Its clock begins at `at`, otherwise at the machine's time. */
  reset(options?: { behaviour?: Behaviour; at?: Moment; frozen?: boolean }): Promise<void>
  /** `path` begins with a slash, or is a whole address of the service. Does not reject for a status. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** Closes its receivers, and ends the account if it is a test account. */
  end(): Promise<void>
}

export interface Clock {
  now(): Promise<Date>
  /** The clock stands still, now or at a later time. */
  freeze(at?: Moment): Promise<Date>
  /** Moves the clock forward, frozen or not. The effects of the new time hold when this resolves. */
  advance(by: Duration): Promise<Date>
  /** Lets the clock run on from its present time. */
  resume(): Promise<Date>
}

export type Which = { payment_id?: string; reference?: string; status?: Status | 'refunded' }
/** `timeout` is 5 seconds by default. `signal`: for example a test runner's. */
export type WaitOptions = { timeout?: Duration; signal?: Signal }
/** The members of an AbortSignal. Written out, because a project may have the types of neither the DOM nor Node. */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
export type WhichRequests = {
  operation?: string
  payment_id?: string
  reference?: string
  status?: number
}

/** The fields of POST /v1/payments. Amounts are in pence. */
export interface PaymentFields {
  amount: number
  reference: string
  description: string
  return_url: string
  email: string
  language: 'en' | 'cy'
  delayed_capture: boolean
  moto: boolean
  authorisation_mode: 'web' | 'moto_api' | 'agreement'
  agreement_id: string
  set_up_agreement: string
  agreement_payment_type: 'instalment' | 'recurring' | 'unscheduled'
  prefilled_cardholder_details: {
    cardholder_name?: string | null
    billing_address?: Partial<
      Record<'line1' | 'line2' | 'city' | 'postcode' | 'country', string | null>
    >
  }
  metadata: Record<string, string | number | boolean>
}

/** Fields of a payment, and the steps to take with it. Amounts are in pence; true refunds all. */
export type NewPayment = Partial<PaymentFields> & {
  /** With the behaviour govuk-pay it needs no delayed_capture, and can also wait ('held') or fail ('error'). */
  capture?: true | 'held' | 'error'
  /** A refund with the scenario error is submitted for 5 seconds and fails then. */
  refund?: number | true | { amount?: number | true; scenario: 'success' | 'error' }
  cancel?: true
} & (
    | { authorisation_mode: 'agreement'; scenario?: 'success' | 'error'; hold?: true }
    | (Declined & { authorisation_mode: 'agreement'; hold?: true })
    | { authorisation_mode: 'moto_api'; scenario?: 'success' | 'declined' | 'error' }
    | { authorisation_mode?: 'web'; scenario?: Choice }
    | (Unconfirmed & { authorisation_mode?: 'web' })
  )

/** For a payment in agreement mode. */
type Declined = {
  scenario: 'declined'
  /** With false its agreement becomes inactive. By default true, and false with the behaviour govuk-pay. */
  can_retry?: boolean
}

/** For a web payment with the behaviour govuk-pay: its user leaves at the confirm page, and it stays submitted. */
type Unconfirmed = { scenario: 'success'; confirm: false }

export type Completion =
  | { scenario?: Choice }
  | Declined
  | Unconfirmed
  | { capture: true | 'error' }
  | { refund: true | 'error' }

export type NewPlan = {
  /** An operationId of /openapi.json, or 'message'. Without it createPayment for a scenario, otherwise any request. */
  on?: string
  /** Only payments that were given these fields; of metadata, these keys. */
  given?: Partial<PaymentFields>
  payment_id?: string
  /** The number of matching requests that pass first: 0 by default. */
  skip?: number
  /** The number of times that the plan then acts: once by default. */
  times?: number | 'always'
} & (
  | { scenario: Choice; capture?: 'held' | 'error' }
  | Declined
  | Unconfirmed
  /** For a payment in agreement mode with the behaviour govuk-pay: it stays started until it is completed. */
  | { hold: true; scenario?: 'success' | 'error' }
  | (Declined & { hold: true })
  /** With the behaviour govuk-pay: the capture does not come until the payment is completed, or fails. */
  | { on?: 'createPayment' | 'capturePayment'; capture: 'held' | 'error' }
  | { on: 'refundPayment'; scenario: 'success' | 'error' }
  /** The refund stays submitted until the payment is completed. */
  | { on?: 'refundPayment'; refund: 'held' }
  /** The first attempt to deliver a message comes so many milliseconds later, in the time of the account. */
  | { on: 'message'; delay: number | [number, number] }
  | {
      /** 'before': the request has no effect. 'after': it has its whole effect, and only the response changes. */
      when?: 'before' | 'after'
      /** Milliseconds, or the least and the most. */
      delay?: number | [number, number]
      /** An error of the API: a status, a code of /openapi.json that has one status, or both. */
      answer?: { status: number; code?: string } | { code: string }
      /** A TCP reset in place of a response. */
      reset?: true
    }
)

export interface Plan extends AsyncDisposable {
  readonly plan_id: string
  /** The numbers of requests that matched and on which the plan acted. `note`: why it did not when it should have. */
  counts(): Promise<{ seen: number; acted: number; note?: string }>
  remove(): Promise<void>
}

export type ReceiveOptions = {
  events?: EventType[]
  /**
   * The status of the response: 200 by default. A function receives the message: `({ attempt }) => (attempt === 1 ? 503
   * : 200)` fails the first attempt at each. If it throws, or returns no status,
   * the response is 500 and the next call of `next` rejects with the error.
   */
  answer?: Reply | ((message: Message) => Reply | Promise<Reply>)
  /** The host and port on which it listens: by default a free port of 127.0.0.1. */
  host?: string
  port?: number
  /** The address under which Farthing reaches it, if that is another one. */
  url?: string
}
export type Reply = number | { status: number; delay?: Duration }

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly signingKey: string
  /**
   * The first message that matches and that no earlier call returned. A message with a wrong signature is answered
   * 401 and shown nowhere. Instead `next` rejects or `all` throws, whichever is called first, once for each.
   */
  next(which?: { event?: EventType; payment_id?: string }, options?: WaitOptions): Promise<Message>
  /** All messages so far, in the order in which they arrived. */
  all(): readonly Message[]
  /** Sets the status of later responses. */
  answer(reply: ReceiveOptions['answer']): void
  /** Stops listening. The webhook becomes inactive. */
  close(): Promise<void>
}

export interface Message {
  readonly event_type: EventType
  readonly payment_id: string
  readonly message_id: string
  /** 1 for the first attempt to deliver this message, 2 for the second. */
  readonly attempt: number
  /** The payment at the time of the message. */
  readonly payment: Payment
  /** The bytes of the body as text, and the headers, for a handler of webhooks. */
  readonly raw: string
  readonly headers: Readonly<Record<string, string>>
}

export interface CheckOptions {
  /** Only requests and messages at this time or later. */
  since?: Moment
  /** Judges as if so much time had passed. No clock is moved. */
  asOf?: Duration
  /** Rules to leave out: `['P3']`. The page Check of the console lists all. */
  ignore?: string[]
  failOn?: 'fail' | 'warn' | 'note' // 'fail' by default
}

export interface Answer {
  status: number
  headers: Record<string, string>
  text: string
  /** The JSON in the body; undefined if the body has none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any response of the service.
  body: any
}

/** The service refused a request of this library. `code` and `field` are those of the response. */
export declare class ControlError extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly field: string | undefined
}
/** The message describes the wait, its duration, and the state that was found instead. */
export declare class WaitError extends Error {}
/** The service under test would break in production. The message lists the findings. */
export declare class CheckFailed extends Error {
  readonly findings: Finding[]
}
export declare class Undelivered extends Error {
  readonly messages: UndeliveredMessage[]
}

/** Pays in a browser: waits for the pages, makes the choice, and leaves them. For Playwright's Page and the like. */
export declare function payOnPages(page: PageLike, scenario?: Choice): Promise<void>
export interface PageLike {
  url(): string
  check(selector: string): Promise<void>
  click(selector: string): Promise<void>
  waitForURL(matches: (url: { pathname: string }) => boolean): Promise<void>
}
