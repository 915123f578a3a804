import type { Farthing } from '../context.ts'
import type { Addresses } from '../http/addresses.ts'
import { type ChangeResult, changePayment } from '../payments/commands.ts'
import { advance, isPayable, type Payment, statusOf, type Trigger } from '../payments/payment.ts'
import { findByToken } from '../payments/store.ts'

/** The scenario picker's choices, and what each does to the payment. */
const triggers = {
  success: 'choose_success',
  declined: 'choose_declined',
  error: 'choose_error',
  cancel: 'choose_cancel',
} as const satisfies Record<string, Trigger>

export type Scenario = keyof typeof triggers
export const scenarios = Object.keys(triggers)

/** The one choice that a form makes; undefined when there is none, an unknown one, or several. */
export function readScenario(form: URLSearchParams): Scenario | undefined {
  const [scenario, ...more] = form.getAll('scenario')
  return scenario !== undefined && more.length === 0 && Object.hasOwn(triggers, scenario)
    ? (scenario as Scenario) // hasOwn has checked it
    : undefined
}

/**
 * The user's way through the hosted pages: who holds the token moves the payment. Everything answers
 * undefined when no web payment has this token, or it is gone. A step that could not be taken has not
 * `moved` the payment, which is then as it was found: over, perhaps, because somebody else was faster.
 */
export type Journey = {
  token: string
  find(): Promise<Payment | undefined>
  open(): Promise<ChangeResult | undefined>
  choose(scenario: Scenario): Promise<ChangeResult | undefined>
  confirm(): Promise<ChangeResult | undefined>
}

export function journeyOf(farthing: Farthing, addresses: Addresses, token: string): Journey {
  const { database, clock } = farthing

  async function find(): Promise<Payment | undefined> {
    const payment = await findByToken(database, token, clock())
    return payment?.given.authorisation_mode === 'web' ? payment : undefined
  }

  const move = (trigger: Trigger) =>
    changePayment(farthing, addresses, find, payment => advance(payment, trigger, clock()))

  return {
    token,
    find,
    open: () => move('open_page'),
    choose: scenario => move(triggers[scenario]),
    confirm: () => move('confirm'),
  }
}

/** SPEC *States and transitions*, rule 2: once it is finished or capturable, every page leads to return_url. */
export const isOver = (payment: Payment): boolean => !isPayable(statusOf(payment))
