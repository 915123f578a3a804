import type { Behaviour } from '../../core/account.ts'
import { flat } from '../../core/flat.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { type CardDetails, mockCard, type Prefilled } from '../card.ts'
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

/** What a user can pick on the hosted pages in place of a card. */
export const choices = ['success', 'declined', 'error', 'cancel'] as const
export type Choice = (typeof choices)[number]

/** How a payment can end. Only control ends one as `expired`. After 7 days a payment is *gone*, which is another thing. */
export const scenarios = [...choices, 'expired'] as const
export type Scenario = (typeof scenarios)[number]

/** How a plan lets a payment end: docs/control.md. */
export type AppliedScenario = {
  scenario?: Choice
  /** Whether a declined payment in agreement mode may be tried again. If not, its agreement becomes inactive. */
  can_retry?: boolean
  /** It stops one step before its end: submitted, or created in agreement mode. */
  hold?: true
}

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

export type Payment = AppliedScenario & {
  payment_id: string
  room: string
  /** Incremented by every write. Compared by compare-and-swap. */
  version: number
  given: NewPayment
  /** That of its account when it was made; absent for `specification`. */
  behaviour?: Exclude<Behaviour, 'specification'>
  provider_id: string
  /** The second half of the payment's hosted or one-time token. */
  secret: string
  /** Oldest first. The last one is the state of the payment. */
  events: PaymentEvent[]
  /** The user chose "success" on the hosted details page and has not confirmed it yet. */
  success_chosen: boolean
  /** When time owes it a step, in milliseconds; null where nothing is due. See due.ts. */
  due_at: AccountTime | null
  /** The sum of all refunds, in pence, but for those that have failed: see `paymentAt` in refund.ts. */
  refunded_amount: number
  /** Refunds that will fail and had not when the payment was written. */
  failing_refunds?: FailingRefund[]
  /** Where its creator found the API, if FARTHING_BASE_URL was not set. The links of its messages begin with it. */
  base_url?: string
  /** Absent if it was created through the API. Only such payments show how the account's client works. */
  origin?: Origin
  card?: CardDetails
  /** Of agreement mode with an Idempotency-Key: a hash of what was asked for. See repeat.ts. */
  asked?: string
  /** A card was posted with its token, and nothing of the card is kept. */
  token_used?: true
}

/** `at`, when it was made, is in milliseconds; `amount` in pence. */
export type FailingRefund = { at: AccountTime; amount: number }

/** Who made a payment without the API: `farthing seed`, a test message to a webhook, or a person or a test by hand. */
export type Origin = 'seed' | 'test message' | 'console' | 'control'

/** A change of a payment. `at` is in milliseconds; `sends` lists the event types of the webhook messages. */
export type Change = { before: Payment; after: Payment; at: AccountTime; sends: EventType[] }

type Transition = {
  from: Status
  /** The statuses in order; the payment keeps the last. "authorised" is success, or capturable with delayed_capture. */
  through: (Status | 'authorised')[]
  code?: FailureCode
  /**
   * The card that it submits: the mock card of the hosted pages, or the one passed to `advance`, which is the card of
   * POST /v1/auth (authorise.ts) or of the agreement (commands.ts, complete.ts).
   */
  submits?: 'mock' | 'passed'
  /** Only after the user chose success on the first page. */
  chosen?: true
}

const rows = (from: Status[], row: Omit<Transition, 'from'>): Transition[] =>
  from.map(status => ({ from: status, ...row }))

/**
 * Specification, *States and transitions*, row by row, and the rows that only control uses: those from `submitted`, where
 * it can hold a payment, and all of `authorise_error`, `confirm_held`, `authorise_held` and `expire`. No other transition
 * is allowed.
 */
export const transitions = {
  open_page: rows(['created'], { through: ['started'] }),
  choose_success: [
    ...rows(['created'], { through: ['started'] }),
    ...rows(['started'], { through: [] }),
  ],
  confirm: rows(['started'], {
    through: ['submitted', 'authorised'],
    submits: 'mock',
    chosen: true,
  }),
  choose_declined: [
    ...rows(['created'], { through: ['started', 'failed'], code: 'P0010', submits: 'mock' }),
    ...rows(['started'], { through: ['failed'], code: 'P0010', submits: 'mock' }),
  ],
  choose_error: [
    ...rows(['created'], { through: ['started', 'error'], code: 'P0050', submits: 'mock' }),
    ...rows(['started'], { through: ['error'], code: 'P0050', submits: 'mock' }),
  ],
  choose_cancel: rows(['created', 'started'], { through: ['failed'], code: 'P0030' }),
  authorise: [
    ...rows(['created'], { through: ['started', 'submitted', 'authorised'], submits: 'passed' }),
    ...rows(['submitted'], { through: ['authorised'] }),
  ],
  authorise_declined: [
    ...rows(['created'], { through: ['started', 'failed'], code: 'P0010', submits: 'passed' }),
    ...rows(['submitted'], { through: ['failed'], code: 'P0010' }),
  ],
  authorise_error: [
    ...rows(['created'], { through: ['started', 'error'], code: 'P0050', submits: 'passed' }),
    ...rows(['submitted'], { through: ['error'], code: 'P0050' }),
  ],
  cancel: rows(['created', 'started', 'capturable'], { through: ['cancelled'], code: 'P0040' }),
  capture: rows(['capturable'], { through: ['success'] }),
  confirm_held: rows(['started'], { through: ['submitted'], submits: 'mock', chosen: true }),
  authorise_held: rows(['created'], { through: ['started', 'submitted'], submits: 'passed' }),
  expire: rows(['created', 'started', 'submitted', 'capturable'], {
    through: ['failed'],
    code: 'P0020',
  }),
} satisfies Record<string, Transition[]>

export type Trigger = keyof typeof transitions

/** Specification, *Webhook event types*: those of a transition. It has none for a payment that expired. */
export function eventTypesBetween(from: Status, to: Status, code?: FailureCode): EventType[] {
  if (code === 'P0020') return []
  switch (to) {
    case 'created':
    case 'started':
    case 'submitted':
      return []
    case 'capturable':
      return ['card_payment_succeeded']
    case 'success':
      return from === 'capturable'
        ? ['card_payment_captured']
        : ['card_payment_succeeded', 'card_payment_captured']
    case 'failed':
    case 'error':
      return ['card_payment_failed']
    case 'cancelled':
      return ['card_payment_cancelled']
  }
}

/**
 * The only function that moves a payment. Returns undefined where the table has no such transition.
 * `now` is in milliseconds. Pass `card` for a trigger that submits one which is not the mock card.
 */
export function advance(
  payment: Payment,
  trigger: Trigger,
  now: AccountTime,
  card?: CardDetails,
): Change | undefined {
  const { status: from, at: latest } = stateOf(payment)
  const transition = transitions[trigger].find(row => row.from === from)
  if (!transition) return undefined
  if (transition.chosen && !payment.success_chosen) return undefined
  const at = Math.max(now, latest)
  const authorised = payment.given.delayed_capture ? 'capturable' : 'success'
  const through = transition.through.map(step => (step === 'authorised' ? authorised : step))
  const to = through.at(-1) ?? from
  const { code } = transition
  const isRecurring = code === 'P0010' && payment.given.authorisation_mode === 'agreement'
  const ended = code && { code, ...(isRecurring && { can_retry: payment.can_retry ?? true }) }
  const events = through.map(status => ({ status, at, ...(status === to && ended) }))
  const submitted = transition.submits === 'mock' ? mockCardOf(payment) : transition.submits && card
  const after: Payment = {
    ...payment,
    version: payment.version + 1,
    events: [...payment.events, ...events],
    success_chosen: trigger === 'choose_success',
    ...(submitted && { card: submitted }),
  }
  return { before: payment, after, at, sends: eventTypesBetween(from, to, code) }
}

/** The card that the hosted pages submit for the payment. */
export const mockCardOf = ({ given, payment_id }: Payment): CardDetails =>
  mockCard(given.prefilled, timeOf(payment_id))

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

/** The charge token in next_url, or the one_time_token of a moto_api payment. */
export const tokenOf = (payment: Payment): string => flat(payment.payment_id, payment.secret)

/** How the payment, its refunds, events and messages behave. */
export const behaviourOf = ({ behaviour }: Payment): Behaviour => behaviour ?? 'specification'

/** When the payment was captured, in milliseconds; undefined before. */
export const capturedAt = (payment: Payment): number | undefined =>
  payment.events.find(event => event.status === 'success')?.at
