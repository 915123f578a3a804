/** Takes a payment to its end, as its user would. */
import { findAgreement } from '../agreements/store.ts'
import { DECLINED_CARD, MOCK_CARD } from '../card.ts'
import type { Context } from '../context.ts'
import { submitCard } from './authorise.ts'
import { changePayment, movePayment } from './commands.ts'
import {
  advance,
  mockCardOf,
  type Payment,
  type Scenario,
  statusOf,
  type Trigger,
  tokenOf,
} from './payment.ts'
import {
  cardTriggers,
  choiceTriggers,
  hasCardTrigger,
  impossibleFor,
  isHeld,
  submittedScenarios,
} from './scenario.ts'
import { findByToken } from './store.ts'

export const confirming =
  (context: Context) =>
  (payment: Payment): Trigger =>
    isHeld(context, payment) ? 'confirm_held' : 'confirm'

/** Whoever has the token of a web payment: it alone authorises every step. */
export type TokenHolder = { context: Context; token: string }

/** The web payment with this token and its account. Undefined if there is none, or if it is gone. */
export async function findByPageToken({ context, token }: TokenHolder) {
  const found = await findByToken(context, token)
  if (found?.payment.given.authorisation_mode !== 'web') return undefined
  context.recordEffects?.(found.account, found.payment)
  return found
}

/** Moves the web payment with this token. Undefined if there is none; not moved if its state does not allow it. */
export const moveByToken = (holder: TokenHolder, trigger: Parameters<typeof movePayment>[2]) =>
  movePayment(holder.context, () => findByPageToken(holder), trigger)

export const MOVED_MEANWHILE = 'another request moved the payment meanwhile: read it'

type Completion = { scenario: Scenario; can_retry?: boolean | undefined }

/**
 * Takes a payment that has not ended to the end of its scenario: a web payment by the steps of its pages, a moto_api
 * payment by a test card, one in agreement mode by the card of its agreement.
 * Resolves to the reason if the payment was not completed: another request was faster, or such a payment cannot end so.
 * Throws the ApiErrors of POST /v1/auth.
 */
export async function completeByScenario(
  context: Context,
  payment: Payment,
  completion: Completion,
): Promise<string | undefined> {
  const { scenario } = completion
  const { authorisation_mode: mode } = payment.given
  const impossible = whyNot(payment, completion)
  if (impossible) return impossible
  if (scenario === 'expired') return moveTo(context, payment, 'expire', completion)
  if (mode === 'agreement' || statusOf(payment) === 'submitted')
    return hasCardTrigger(scenario)
      ? moveTo(context, payment, cardTriggers[scenario], completion)
      : undefined
  if (mode === 'moto_api') return completeByCard(context, payment, scenario)
  const holder = { context, token: tokenOf(payment) }
  await moveByToken(holder, 'open_page')
  const chosen = await moveByToken(holder, choiceTriggers[scenario])
  const result = scenario === 'success' ? await moveByToken(holder, 'confirm') : chosen
  return result?.moved ? undefined : MOVED_MEANWHILE
}

/** Why the payment cannot end so in its present status. */
function whyNot(payment: Payment, { scenario, can_retry }: Completion): string | undefined {
  const { authorisation_mode: mode } = payment.given
  const wanted = { scenario, ...(can_retry !== undefined && { can_retry }) }
  if (statusOf(payment) === 'submitted' && mode !== 'agreement' && can_retry === undefined)
    return submittedScenarios.some(each => each === scenario)
      ? undefined
      : `a payment that is submitted cannot end with ${scenario}: use ${submittedScenarios.join(', ')}`
  const impossible = impossibleFor(mode, wanted)
  return impossible && `${impossible.field} ${impossible.rule}`
}

/** Moves a payment of any mode. Nobody enters a card: it has one, or its agreement has. */
async function moveTo(
  context: Context,
  payment: Payment,
  trigger: Trigger,
  { can_retry }: Completion,
): Promise<string | undefined> {
  const { agreement_id = '' } = payment.given
  const agreement = await findAgreement(context.database, payment.room, agreement_id)
  const result = await changePayment(
    context,
    () => findByToken(context, tokenOf(payment)),
    (found, now) =>
      advance(
        { ...found, ...(can_retry !== undefined && { can_retry }) },
        trigger,
        now,
        agreement?.instrument?.card,
      ),
  )
  return result?.moved ? undefined : MOVED_MEANWHILE
}

async function completeByCard(
  context: Context,
  payment: Payment,
  scenario?: Scenario,
): Promise<undefined> {
  const { cardholder_name = '', expiry_date = '' } = mockCardOf(payment)
  const card_number = scenario === 'declined' ? DECLINED_CARD : MOCK_CARD
  const one_time_token = tokenOf(payment)
  const details = { one_time_token, card_number, cvc: '123', cardholder_name, expiry_date }
  await submitCard(context, details, {
    scenario: scenario && hasCardTrigger(scenario) ? scenario : undefined,
  })
}

/** Does what the user of a payment does until it is held. In agreement mode there is no user. */
export async function submitHeld(context: Context, payment: Payment): Promise<void> {
  const { authorisation_mode: mode } = payment.given
  if (mode === 'moto_api') await completeByCard(context, payment)
  if (mode !== 'web') return
  const holder = { context, token: tokenOf(payment) }
  for (const trigger of ['open_page', 'choose_success', confirming(context)] as const)
    await moveByToken(holder, trigger)
}
