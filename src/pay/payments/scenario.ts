/** Which payments can end with which scenario, and how they get there. Pure rules. */
import type { Behaviour } from '../../core/account.ts'
import type { AccountTime } from '../../core/ports.ts'
import type { CardDetails } from '../card.ts'
import { captureDelay, cardAuthorisedBy, chargeDelay } from '../differences/states.ts'
import { advance } from './advance.ts'
import type { DueStep } from './due.ts'
import {
  type AuthorisationMode,
  type Change,
  type Choice,
  choices,
  type Payment,
  type Scenario,
} from './payment.ts'
import type { Trigger } from './transitions.ts'

/** The scenarios of each authorisation mode, in the order in which people are shown them. */
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

/** The trigger of each scenario of a card that nobody enters on a page. */
const cardTriggers: Partial<Record<Choice, Trigger>> = {
  success: 'authorise',
  declined: 'authorise_declined',
  error: 'authorise_error',
}

/** What takes a payment to the end of a scenario. Triggers that its state is beyond are left out on the way. */
function wayTo({ given }: Payment, { scenario = 'success', confirm }: Scenario): Trigger[] {
  if (given.authorisation_mode !== 'web') return [cardTriggers[scenario] ?? choiceTriggers.cancel]
  const chosen = ['open_page', choiceTriggers[scenario]] as const
  return scenario === 'success' && confirm !== false ? [...chosen, 'confirm'] : [...chosen]
}

/**
 * Takes a payment to the end of a scenario, in one change: a web payment by the steps of its pages, any other by
 * `card`. Returns undefined where its state has no way there. `now` is in milliseconds.
 */
export function pursue(
  payment: Payment,
  wanted: Scenario,
  now: AccountTime,
  card?: CardDetails,
): Change | undefined {
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

/** Takes the step that time owes the payment, at the time at which it is due. A charge is by `card`. */
export function takeStep(
  payment: Payment,
  { at, step }: DueStep,
  card: CardDetails | undefined,
): Change | undefined {
  const { scenario, capture } = payment
  if (step === 'charge') return pursue(payment, { ...(scenario && { scenario }) }, at, card)
  if (step === 'expiry') return advance(payment, 'expire', at)
  return advance(payment, capture === 'error' ? 'fail_capture' : 'confirm_capture', at)
}

/** What is wrong with the wanted end. `rule` completes the sentence that begins with the field. */
type Impossible = { field: keyof Scenario; rule: string }

/** What is known of the payment. Without a mode or behaviour, only what no payment can do counts. */
type Known = { mode?: AuthorisationMode | undefined; behaviour?: Behaviour | undefined }

const ONLY_GOVUK_PAY =
  'must be absent: an account that behaves as the specification has no such state'

/** Why no such payment can end so; undefined if one can. */
export function impossibleFor(
  { mode, behaviour = 'govuk-pay' }: Known,
  { scenario, can_retry, hold, confirm, capture }: Scenario,
): Impossible | undefined {
  if (hold && chargeDelay[behaviour] === undefined) return { field: 'hold', rule: ONLY_GOVUK_PAY }
  if (confirm === false && cardAuthorisedBy[behaviour] === 'confirm')
    return { field: 'confirm', rule: ONLY_GOVUK_PAY }
  if (capture && captureDelay[behaviour] === 0) return { field: 'capture', rule: ONLY_GOVUK_PAY }
  if (can_retry !== undefined && scenario !== 'declined')
    return { field: 'can_retry', rule: 'needs the scenario declined' }
  if (confirm === false && scenario !== 'success')
    return { field: 'confirm', rule: 'needs the scenario success' }
  if (capture && (scenario ?? 'success') !== 'success')
    return { field: 'capture', rule: 'needs the scenario success' }
  if (mode === undefined) return undefined
  const possible = scenariosOf[mode]
  if (scenario !== undefined && !possible.includes(scenario))
    return {
      field: 'scenario',
      rule: `must be one of ${possible.join(', ')} for a payment with authorisation_mode ${mode}`,
    }
  if (can_retry !== undefined && mode !== 'agreement')
    return { field: 'can_retry', rule: 'needs authorisation_mode agreement' }
  if (hold && mode !== 'agreement')
    return { field: 'hold', rule: 'needs authorisation_mode agreement' }
  if (confirm === false && mode !== 'web')
    return { field: 'confirm', rule: 'needs authorisation_mode web' }
  return undefined
}

/** What a plan stored with the payment. Nothing while control is off: the user then decides, and nobody could end a payment that is held. */
export function planOf({ config }: { config: { control: boolean } }, payment: Payment): Scenario {
  if (!config.control) return {}
  const { scenario, can_retry, hold, confirm, capture } = payment
  return {
    ...(scenario && { scenario }),
    ...(can_retry !== undefined && { can_retry }),
    ...(hold && { hold }),
    ...(confirm === false && { confirm }),
    ...(capture && { capture }),
  }
}
