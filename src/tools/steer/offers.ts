/** The plans that people choose from on pages, in words. */
import { isDeepStrictEqual } from 'node:util'
import type { Behaviour } from '../../core/account.ts'
import { CREATION, type Plan } from '../plans/plan.ts'
import type { NewPlan } from './plan-wire.ts'

/** What the plan is about: its first word in a list. */
type Subject = 'Payment' | 'Charge' | 'Refund' | 'Request' | 'Message'

export type Offer = { about: Subject; text: string; plan: NewPlan; only?: Behaviour }

const govukPay = { only: 'govuk-pay' } as const

/** Of a charge the payment is in agreement mode. */
const charge = (text: string, plan: NewPlan, more: Partial<Offer> = {}): Offer => ({
  about: 'Charge',
  text,
  plan: { ...plan, given: { authorisation_mode: 'agreement' } },
  ...more,
})
const payment = (text: string, plan: NewPlan, more: Partial<Offer> = {}): Offer => ({
  about: 'Payment',
  text,
  plan,
  ...more,
})
const refund = (text: string, plan: NewPlan): Offer => ({
  about: 'Refund',
  text,
  plan: { on: 'refundPayment', ...plan },
})
const creation = (text: string, plan: NewPlan): Offer => ({
  about: 'Request',
  text: `a new payment ${text}`,
  plan: { on: 'createPayment', ...plan },
})

/** By the names that forms send. */
const offers = {
  paid: payment('paid', { scenario: 'success' }),
  declined: payment('declined', { scenario: 'declined' }),
  error: payment('fails at the provider', { scenario: 'error' }),
  cancel: payment('cancelled by its user', { scenario: 'cancel' }),
  left: payment(
    'its user leaves before Confirm',
    { scenario: 'success', confirm: false },
    govukPay,
  ),
  'capture-held': payment(
    'paid, and its capture waits',
    { scenario: 'success', capture: 'held' },
    govukPay,
  ),
  'capture-error': payment(
    'paid, and its capture fails',
    { scenario: 'success', capture: 'error' },
    govukPay,
  ),
  retry: charge('declined, and may be tried again', { scenario: 'declined', can_retry: true }),
  final: charge('declined for good', { scenario: 'declined', can_retry: false }),
  'charge-error': charge('fails at the provider', { scenario: 'error' }),
  held: charge('stays started until you end it', { hold: true }, govukPay),
  'charge-capture-held': charge(
    'paid, and its capture waits',
    { scenario: 'success', capture: 'held' },
    govukPay,
  ),
  'charge-capture-error': charge(
    'paid, and its capture fails',
    { scenario: 'success', capture: 'error' },
    govukPay,
  ),
  'refund-error': refund('fails after it was accepted', { scenario: 'error' }),
  'refund-held': refund('stays submitted until you end it', { refund: 'held' }),
  'refund-changed': refund('refused, because the available amount is another one', {
    answer: { status: 412, code: 'P0604' },
  }),
  429: creation('is answered 429: too many requests', { answer: { status: 429 } }),
  500: creation('is answered 500', { answer: { status: 500 } }),
  503: creation('is answered 503', { answer: { status: 503 } }),
  slow: creation('is answered after 10 seconds', { delay: 10_000 }),
  lost: creation('is made, and its answer is lost', { reset: true, when: 'after' }),
  late: {
    about: 'Message',
    text: 'is sent 20 seconds later',
    plan: { on: 'message', delay: 20_000 },
  },
} satisfies Record<string, Offer>

/** Those that an account with this behaviour can have, by their names. */
export const offersTo = (behaviour: Behaviour, about?: Subject): Map<string, Offer> =>
  new Map(
    Object.entries<Offer>(offers).filter(
      ([, { only = behaviour, about: its }]) => only === behaviour && its === (about ?? its),
    ),
  )

/** Such as `Charge: declined for good`. */
export const offerText = ({ about, text }: Offer): string => `${about}: ${text}`

const EFFECTS = 'scenario can_retry hold confirm capture refund delay answer reset'.split(' ')

/** What a plan does, in the words of the offer that it was made from. */
export function textOfPlan(plan: Plan): string | undefined {
  const effects = (each: object) => Object.entries(each).filter(([name]) => EFFECTS.includes(name))
  const made = Object.fromEntries(effects(plan).filter(([, value]) => value !== undefined))
  const isOf = (offer: Offer) =>
    isDeepStrictEqual(Object.fromEntries(effects(offer.plan)), made) &&
    (offer.plan.on ?? CREATION) === plan.on &&
    (offer.plan.given?.authorisation_mode ?? 'web') ===
      (plan.given?.agreement_id ? 'agreement' : (plan.given?.authorisation_mode ?? 'web'))
  const offer = Object.values<Offer>(offers).find(isOf)
  return offer && offerText(offer)
}
