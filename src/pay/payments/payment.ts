import type { Behaviour } from '../../core/account.ts'
import { flat } from '../../core/flat.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { type CardDetails, mockCard, type Prefilled } from '../card.ts'
import { keptText } from '../differences/creating.ts'
import { captureDelay } from '../differences/states.ts'
import type { EventType } from '../webhooks/webhook.ts'

/** Specification, *States and transitions*. */
export const statuses = [
  'created',
  'started',
  'submitted',
  'success',
  'capturable',
  'failed',
  'error',
  'cancelled',
] as const
export type Status = (typeof statuses)[number]

export const authorisationModes = ['web', 'moto_api', 'agreement'] as const
export type AuthorisationMode = (typeof authorisationModes)[number]

export const agreementPaymentTypes = ['instalment', 'recurring', 'unscheduled'] as const
export type AgreementPaymentType = (typeof agreementPaymentTypes)[number]

/** The languages of the hosted pages: English and Welsh. */
export const languages = ['en', 'cy'] as const
export type Language = (typeof languages)[number]

/** Specification, *Errors*: why a payment is failed, cancelled or in error. */
export const failureCodes = ['P0010', 'P0020', 'P0030', 'P0040', 'P0050'] as const
export type FailureCode = (typeof failureCodes)[number]

/** The choices of a user on the hosted pages, in place of a card. */
export const choices = ['success', 'declined', 'error', 'cancel'] as const
export type Choice = (typeof choices)[number]

/** The decisions of a plan or a test about a payment: docs/control.md. */
export type Scenario = {
  scenario?: Choice
  /** Whether a declined payment in agreement mode may be tried again. If not, its agreement becomes inactive. */
  can_retry?: boolean
  /** A payment in agreement mode stays started until it is completed. */
  hold?: true
  /** The user of a web payment leaves at the confirm page, so the payment stays submitted. */
  confirm?: false
  /** The capture fails, or does not come before it is completed. */
  capture?: 'held' | 'error'
  /** A refund stays submitted until it is completed. */
  refund?: 'held'
}

export const ofScenario = ['scenario', 'can_retry', 'hold', 'confirm', 'capture', 'refund'] as const

/** The scenario in a plan, in a request or of a payment. */
export const scenarioIn = (from: Scenario): Scenario =>
  Object.fromEntries(
    ofScenario.filter(name => from[name] !== undefined).map(name => [name, from[name]]),
  )

/** Specification, *Payment events*. `at` is in milliseconds. */
export type PaymentEvent = {
  status: Status
  at: AccountTime
  code?: FailureCode
  can_retry?: boolean
}

/** The request that created a payment, with defaults filled in. `amount` is in pence. */
export type NewPayment = {
  amount: number
  reference: string
  description: string
  language: Language
  delayed_capture: boolean
  moto: boolean
  authorisation_mode: AuthorisationMode
  return_url?: string
  email?: string
  metadata?: Record<string, string | number | boolean>
  agreement_id?: string
  set_up_agreement?: string
  agreement_payment_type?: AgreementPaymentType
  prefilled?: Prefilled
}

export type Payment = Scenario & {
  payment_id: string
  room: string
  /** Incremented by every write. Compared by compare-and-swap. */
  version: number
  given: NewPayment
  /** The behaviour of its account when the payment was made; absent for `specification`. */
  behaviour?: Exclude<Behaviour, 'specification'>
  provider_id: string
  /** The second half of the payment's hosted or one-time token. */
  secret: string
  /** Oldest first. The last one is the state of the payment. */
  events: PaymentEvent[]
  /** The user chose "success" on the hosted details page and has not confirmed it yet. */
  success_chosen: boolean
  /** When its next step is due, in milliseconds; null if time owes it no step. See due.ts. */
  due_at: AccountTime | null
  /** When it was captured, in milliseconds, unless that was the moment of its success. */
  captured_at?: AccountTime
  /** The sum of all refunds, in pence, without failed ones: see `paymentAt` in refund.ts. */
  refunded_amount: number
  /** Refunds that will fail, but had not failed yet when the payment was written. */
  failing_refunds?: FailingRefund[]
  /** The creator's address of the API, if FARTHING_BASE_URL was not set. The links in its messages begin with it. */
  base_url?: string
  /** Absent if it was created through the API. Only such payments show how the account's client works. */
  origin?: Origin
  card?: CardDetails
  /** For agreement mode with an Idempotency-Key: a hash of the request. See repeat.ts. */
  asked?: string
  /** A card was posted with its token, and nothing of the card is kept. */
  token_used?: true
}

/** `at` is when the refund was made, in milliseconds. `amount` is in pence. */
export type FailingRefund = { at: AccountTime; amount: number }

/** The origin of a payment outside the API: `farthing seed`, a test message, or a person or a test by hand. */
export type Origin = 'seed' | 'test message' | 'console' | 'control'

/** A change of a payment. `at` is in milliseconds; `sends` lists the event types of the webhook messages. */
export type Change = { before: Payment; after: Payment; at: AccountTime; sends: EventType[] }

/** The card that the hosted pages submit for the payment. */
export function mockCardOf(payment: Payment): CardDetails {
  const card = mockCard(payment.given.prefilled, timeOf(payment.payment_id))
  return { ...card, cardholder_name: keptText[behaviourOf(payment)](card.cardholder_name ?? '') }
}

/** The last event of the payment. Throws when there is none, which is a bug. */
export const stateOf = (payment: Payment): PaymentEvent => {
  const last = payment.events.at(-1)
  if (!last) throw new Error(`payment ${payment.payment_id} has no event`)
  return last
}

export const statusOf = (payment: Payment): Status => stateOf(payment).status

const stages: Record<Status, 'payable' | 'authorised' | 'finished'> = {
  created: 'payable',
  started: 'payable',
  submitted: 'authorised',
  capturable: 'authorised',
  success: 'finished',
  failed: 'finished',
  error: 'finished',
  cancelled: 'finished',
}

export const isFinished = (status: Status): boolean => stages[status] === 'finished'

/** True while a card can still be submitted. After that the hosted pages redirect to return_url. */
export const isPayable = (status: Status): boolean => stages[status] === 'payable'

/** Whether the card was authorised for good. Only then has the payment set up its agreement. */
export const isAuthorised = (payment: Payment): boolean =>
  ['success', 'capturable'].includes(statusOf(payment))

/** The charge token in next_url, or the one_time_token of a moto_api payment. */
export const tokenOf = (payment: Payment): string => flat(payment.payment_id, payment.secret)

/** The behaviour of the payment, and of its refunds, events and messages. */
export const behaviourOf = ({ behaviour }: Payment): Behaviour => behaviour ?? 'specification'

/** When the payment was captured, in milliseconds; undefined before. */
export const capturedAt = (payment: Payment): number | undefined =>
  captureDelay[behaviourOf(payment)] > 0
    ? payment.captured_at
    : payment.events.find(event => event.status === 'success')?.at

/** Whether an API capture is not needed and not allowed: a queue of the service captures it. */
export const isQueuedForCapture = (payment: Payment): boolean =>
  statusOf(payment) === 'success' &&
  capturedAt(payment) === undefined &&
  payment.given.authorisation_mode !== 'web' &&
  !payment.given.delayed_capture

/** The payment as searches and the response to its creation show it: without the start of its charge. */
export const beforeCharge = (payment: Payment): Payment =>
  payment.given.authorisation_mode === 'agreement' && statusOf(payment) === 'started'
    ? { ...payment, events: payment.events.slice(0, 1) }
    : payment
