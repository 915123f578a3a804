/** Decides with which scenarios a payment can end, and takes it there. Pure. */
import type { Behaviour } from '../../core/account.ts'
import type { AccountTime } from '../../core/ports.ts'
import type { CardDetails } from '../card.ts'
import { captureDelay, cardAuthorisedBy, chargeDelay } from '../differences/states.ts'
import { advance } from './advance.ts'
import { dueStep } from './due.ts'
import {
  type AuthorisationMode,
  type Change,
  type Choice,
  choices,
  type Payment,
  type Scenario,
  scenarioIn,
} from './payment.ts'
import type { Trigger } from './transitions.ts'

/** The scenarios of each authorisation mode, in the order in which people see them. */
const scenariosOf: Record<AuthorisationMode, readonly Choice[]> = {
  web: choices,
  moto_api: ['success', 'declined', 'error'],
  agreement: ['success', 'declined', 'error'],
}

/** The trigger of each choice on the hosted pages. */
export const choiceTriggers = {
  success: 'choose_success',
  declined: 'choose_declined',
  error: 'choose_error',
  cancel: 'choose_cancel',
} as const satisfies Record<Choice, Trigger>

/** The trigger of each scenario for a card that no user enters on a page. */
const cardTriggers: Partial<Record<Choice, Trigger>> = {
  success: 'authorise',
  declined: 'authorise_declined',
  error: 'authorise_error',
}

/** The triggers that take a payment to the end of a scenario. `pursue` skips those that its state has passed. */
function wayTo({ given }: Payment, { scenario = 'success', confirm }: Scenario): Trigger[] {
  if (given.authorisation_mode !== 'web') return [cardTriggers[scenario] ?? choiceTriggers.cancel]
  const chosen = ['open_page', choiceTriggers[scenario]] as const
  return scenario === 'success' && confirm !== false ? [...chosen, 'confirm'] : [...chosen]
}

/**
 * Takes a payment to the end of a scenario, in one change: a web payment by the steps of its pages, any other by
 * `card`. Returns undefined if no transition leads there from its state. `now` is in milliseconds.
 */
export function pursue(payment: Payment, wanted: Scenario, now: AccountTime, card?: CardDetails) {
  const { can_retry } = wanted
  const way = wayTo(payment, wanted)
  let change: Change | undefined
  for (const trigger of way) {
    const from = change?.after ?? { ...payment, ...(can_retry !== undefined && { can_retry }) }
    const next = advance(from, trigger, now, card)
    if (next)
      change = { ...next, before: payment, sends: [...(change?.sends ?? []), ...next.sends] }
    else if (trigger === way.at(-1)) return undefined
  }
  return change
}

/**
 * Takes the step that time owes the payment, dated when it was due. A charge uses `card`. Throws if no step is due,
 * which is a bug.
 */
export function takeStep(payment: Payment, card: CardDetails | undefined): Change {
  const due = dueStep(payment)
  const triggers = {
    expiry: 'expire',
    capture: payment.capture === 'error' ? 'fail_capture' : 'confirm_capture',
  } as const
  const change =
    due?.step === 'charge'
      ? pursue(payment, payment, due.at, card)
      : due && advance(payment, triggers[due.step], due.at)
  if (!change) throw new Error(`payment ${payment.payment_id} owes no step`)
  return change
}

/** The known facts about a payment. Without them only a scenario that no payment can have counts as impossible. */
type Known = { mode?: AuthorisationMode | undefined; behaviour?: Behaviour | undefined }

const ONLY_GOVUK_PAY =
  'must be absent: an account that behaves as the specification has no such state'

/** The reason why no such payment can end so; undefined if one can. `rule` follows the field's name in a sentence. */
export function impossibleFor({ mode, behaviour = 'govuk-pay' }: Known, wanted: Scenario) {
  const { scenario } = wanted
  const possible = mode === undefined ? choices : scenariosOf[mode]
  const isNo = (only: AuthorisationMode) => mode !== undefined && mode !== only
  const problems: [field: keyof Scenario, isProblem: boolean, rule: string][] = [
    ['hold', chargeDelay[behaviour] === undefined, ONLY_GOVUK_PAY],
    ['confirm', cardAuthorisedBy[behaviour] === 'confirm', ONLY_GOVUK_PAY],
    ['capture', captureDelay[behaviour] === 0, ONLY_GOVUK_PAY],
    ['can_retry', scenario !== 'declined', 'needs the scenario declined'],
    ['confirm', scenario !== 'success', 'needs the scenario success'],
    ['capture', scenario !== undefined && scenario !== 'success', 'needs the scenario success'],
    [
      'scenario',
      scenario !== undefined && !possible.includes(scenario),
      `must be one of ${possible.join(', ')} for a payment with authorisation_mode ${mode}`,
    ],
    ['can_retry', isNo('agreement'), 'needs authorisation_mode agreement'],
    ['hold', isNo('agreement'), 'needs authorisation_mode agreement'],
    ['confirm', isNo('web'), 'needs authorisation_mode web'],
  ]
  const found = problems.find(([field, isProblem]) => wanted[field] !== undefined && isProblem)
  return found && { field: found[0], rule: found[2] }
}

/** The scenario that a plan stored. Empty while control is off: the user decides, and nobody can end a held payment. */
export const planOf = ({ config }: { config: { control: boolean } }, payment: Payment): Scenario =>
  config.control ? scenarioIn(payment) : {}
