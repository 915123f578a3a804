/** The plans that people choose from on pages, in words. */
import { isDeepStrictEqual } from 'node:util'
import type { Behaviour } from '../../core/account.ts'
import { type AuthorisationMode, type Scenario, scenarioIn } from '../../pay/payments/payment.ts'
import { CREATION, type Plan } from '../plans/plan.ts'
import type { NewPlan } from './plan-wire.ts'

/** The subject of a plan: its first word in a list. */
type Subject = 'Payment' | 'Charge' | 'Refund' | 'Request' | 'Message'

/** The value in forms, the text for people, the fields of the plan beside `common`, and the behaviour that it needs. */
type Row = [name: string, text: string, plan: NewPlan, only?: Behaviour]

/** The fields that all plans about a subject have. A charge is a payment in agreement mode. */
const common: Record<Subject, NewPlan> = {
  Payment: {},
  Charge: { given: { authorisation_mode: 'agreement' } },
  Refund: { on: 'refundPayment' },
  Request: { on: 'createPayment' },
  Message: { on: 'message' },
}

const left = { scenario: 'success', confirm: false } as const
const held = { scenario: 'success', capture: 'held' } as const
const failing = { scenario: 'success', capture: 'error' } as const

const rows: Record<Subject, Row[]> = {
  Payment: [
    ['paid', 'paid', { scenario: 'success' }],
    ['declined', 'declined', { scenario: 'declined' }],
    ['error', 'fails at the provider', { scenario: 'error' }],
    ['cancel', 'cancelled by its user', { scenario: 'cancel' }],
    ['left', 'its user leaves before Confirm', left, 'govuk-pay'],
    ['capture-held', 'paid, and its capture waits', held, 'govuk-pay'],
    ['capture-error', 'paid, and its capture fails', failing, 'govuk-pay'],
  ],
  Charge: [
    ['retry', 'declined, and may be tried again', { scenario: 'declined', can_retry: true }],
    ['final', 'declined for good', { scenario: 'declined', can_retry: false }],
    ['charge-error', 'fails at the provider', { scenario: 'error' }],
    ['held', 'stays started until you end it', { hold: true }, 'govuk-pay'],
    ['charge-capture-held', 'paid, and its capture waits', held, 'govuk-pay'],
    ['charge-capture-error', 'paid, and its capture fails', failing, 'govuk-pay'],
  ],
  Refund: [
    ['refund-error', 'fails after it was accepted', { scenario: 'error' }],
    ['refund-held', 'stays submitted until you end it', { refund: 'held' }],
    [
      'refund-changed',
      'refused, because the available amount is another one',
      { answer: { status: 412, code: 'P0604' } },
    ],
  ],
  Request: [
    ['429', 'a new payment is answered 429: too many requests', { answer: { status: 429 } }],
    ['500', 'a new payment is answered 500', { answer: { status: 500 } }],
    ['503', 'a new payment is answered 503', { answer: { status: 503 } }],
    ['slow', 'a new payment is answered after 10 seconds', { delay: 10_000 }],
    ['lost', 'a new payment is made, and its answer is lost', { reset: true, when: 'after' }],
  ],
  Message: [['late', 'is sent 20 seconds later', { delay: 20_000 }]],
}

const subjects = Object.keys(rows) as Subject[] // its keys

const offers = subjects.flatMap(about =>
  rows[about].map(([name, text, plan, only]) => {
    return { name, about, text, plan: { ...common[about], ...plan }, only }
  }),
)
type Offer = (typeof offers)[number]

/** The offers that an account with this behaviour can use, by their names. */
export const offersTo = (behaviour: Behaviour, about?: Subject): Map<string, Offer> =>
  new Map(
    offers
      .filter(offer => offer.about === (about ?? offer.about))
      .filter(({ only = behaviour }) => only === behaviour)
      .map(offer => [offer.name, offer]),
  )

/** Such as `Charge: declined for good`. */
export const offerText = ({ about, text }: Offer): string => `${about}: ${text}`

/** How a payment with this scenario ends, in the words of the offer; undefined without a scenario. */
export function endingText(scenario: Scenario, mode: AuthorisationMode): string | undefined {
  const subject = mode === 'agreement' ? 'Charge' : 'Payment'
  const isOf = ({ about, plan }: Offer) =>
    about === subject && isDeepStrictEqual(scenarioIn(plan), scenario)
  const words = Object.entries(scenario).map(([name, value]) => `${name} ${value}`)
  return offers.find(isOf)?.text ?? (words.join(', ') || undefined)
}

const EFFECTS = 'scenario can_retry hold confirm capture refund delay answer reset'.split(' ')

const effectsOf = (plan: object) =>
  Object.fromEntries(
    Object.entries(plan).filter(([name, value]) => EFFECTS.includes(name) && value !== undefined),
  )

/** The effect of a plan, in the words of the offer from which it was made. */
export function textOfPlan(plan: Plan): string | undefined {
  const ofPlan = effectsOf(plan)
  const isOf = (offer: Offer) =>
    isDeepStrictEqual(effectsOf(offer.plan), ofPlan) &&
    (offer.plan.on ?? CREATION) === plan.on &&
    (offer.plan.given?.authorisation_mode ?? 'web') ===
      (plan.given?.agreement_id ? 'agreement' : (plan.given?.authorisation_mode ?? 'web'))
  const offer = offers.find(isOf)
  return offer && offerText(offer)
}
