/** Which payments can end with which scenario. Pure rules. */
import {
  type AppliedScenario,
  type AuthorisationMode,
  type Choice,
  choices,
  type Payment,
  type Scenario,
  type Trigger,
} from './payment.ts'

/** The scenarios of each authorisation mode, in the order in which people are shown them. */
const scenariosOf: Record<AuthorisationMode, readonly Scenario[]> = {
  web: [...choices, 'expired'],
  moto_api: ['success', 'declined', 'expired'],
  agreement: ['success', 'declined', 'error', 'expired'],
}

/** Of a payment that was held in `submitted`: its user has done all that users do. */
export const submittedScenarios = ['success', 'declined', 'error', 'expired'] as const

/** The trigger of each choice on the hosted pages. */
export const choiceTriggers = {
  success: 'choose_success',
  declined: 'choose_declined',
  error: 'choose_error',
  cancel: 'choose_cancel',
} as const satisfies Record<Choice, Trigger>

/** The trigger of each scenario of a card that nobody enters on a page, or of a payment that was submitted. */
export const cardTriggers = {
  success: 'authorise',
  declined: 'authorise_declined',
  error: 'authorise_error',
} as const satisfies Partial<Record<Choice, Trigger>>

export const hasCardTrigger = (scenario: Scenario): scenario is keyof typeof cardTriggers =>
  Object.hasOwn(cardTriggers, scenario)

/** What a test wants of a payment. */
export type WantedScenario = Omit<AppliedScenario, 'scenario'> & { scenario?: Scenario }

/** What is wrong with the wanted end. `rule` completes the sentence that begins with the field. */
type Impossible = { field: 'scenario' | 'can_retry' | 'hold'; rule: string }

/** Why no payment of this mode can end so; undefined if one can. Without a mode, only what no payment can do counts. */
export function impossibleFor(
  mode: AuthorisationMode | undefined,
  { scenario, can_retry, hold }: WantedScenario,
): Impossible | undefined {
  if (can_retry !== undefined && scenario !== 'declined')
    return { field: 'can_retry', rule: 'needs the scenario declined' }
  if (hold && (scenario === 'cancel' || scenario === 'expired'))
    return { field: 'hold', rule: `must be absent with ${scenario}: no step comes before that end` }
  if (mode === undefined) return undefined
  const possible = scenariosOf[mode]
  if (scenario !== undefined && !possible.includes(scenario))
    return {
      field: 'scenario',
      rule: `must be one of ${possible.join(', ')} for a payment with authorisation_mode ${mode}`,
    }
  if (can_retry !== undefined && mode !== 'agreement')
    return { field: 'can_retry', rule: 'needs authorisation_mode agreement' }
  return undefined
}

/** What a plan stored with the payment. Nothing while control is off: the user then decides, and nobody could end a payment that is held. */
export const planOf = (
  { config }: { config: { control: boolean } },
  { scenario, hold }: Payment,
): AppliedScenario =>
  config.control ? { ...(scenario && { scenario }), ...(hold && { hold }) } : {}
