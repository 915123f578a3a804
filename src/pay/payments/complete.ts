/** Takes a payment to its end, as its user would. */
import type { RecordEffects } from '../../platform/http/request-state.ts'
import type { Context } from '../context.ts'
import { submitCard } from './authorise.ts'
import { DECLINED_CARD, MOCK_CARD } from './card.ts'
import { type ChangeResult, movePayment } from './commands.ts'
import { mockCardOf, type Payment, type Scenario, type Trigger, tokenOf } from './payment.ts'
import { findByToken } from './store.ts'

/** The trigger of each scenario of the hosted pages. */
export const scenarioTriggers = {
  success: 'choose_success',
  declined: 'choose_declined',
  error: 'choose_error',
  cancel: 'choose_cancel',
} as const satisfies Record<Scenario, Trigger>

/** Whoever has the token of a web payment: it alone authorises every step. */
export type TokenHolder = {
  context: Context
  token: string
  /** Receives the payment, and the events and messages that the request caused, for the record. */
  recordEffects?: RecordEffects | undefined
}

/** The web payment with this token and its account. Undefined if there is none, or if it has expired. */
export async function findByPageToken({ context, token, recordEffects }: TokenHolder) {
  const found = await findByToken(context, token)
  if (found?.payment.given.authorisation_mode !== 'web') return undefined
  recordEffects?.(found.account, found.payment)
  return found
}

/** Moves the web payment with this token. Undefined if there is none; not moved if its state does not allow it. */
export const moveByToken = (
  holder: TokenHolder,
  trigger: Trigger,
): Promise<ChangeResult | undefined> =>
  movePayment(holder.context, () => findByPageToken(holder), trigger, {
    recordEffects: holder.recordEffects,
  })

/** Another request was faster. */
export const ENDED_MEANWHILE = 'another request ended the payment meanwhile: read it'

type Completion = { scenario: Scenario; recordEffects: RecordEffects }

/**
 * Takes a payment that has not ended through its scenario: a web payment by the steps of its pages, a moto_api payment
 * by a test card. `recordEffects` receives what that causes. Resolves to the reason if the payment was not completed: another
 * request was faster, or the scenario is none of a moto_api payment. Throws an ApiError that the card endpoint has.
 */
export async function completeByScenario(
  context: Context,
  payment: Payment,
  { scenario, recordEffects }: Completion,
): Promise<string | undefined> {
  const token = tokenOf(payment)
  if (payment.given.authorisation_mode !== 'web')
    return completeByCard(context, payment, { scenario, recordEffects })
  const holder: TokenHolder = { context, token, recordEffects }
  await moveByToken(holder, 'open_page')
  const chosen = await moveByToken(holder, scenarioTriggers[scenario])
  const result = scenario === 'success' ? await moveByToken(holder, 'confirm') : chosen
  return result?.moved ? undefined : ENDED_MEANWHILE
}

/** A moto_api payment is completed by a test card. */
async function completeByCard(
  context: Context,
  payment: Payment,
  { scenario, recordEffects }: Completion,
): Promise<string | undefined> {
  if (scenario === 'error' || scenario === 'cancel')
    return `a moto_api payment cannot end with ${scenario}: use success or declined`
  const { cardholder_name = '', expiry_date = '' } = mockCardOf(payment)
  const card_number = scenario === 'declined' ? DECLINED_CARD : MOCK_CARD
  const card = { card_number, cvc: '123', cardholder_name, expiry_date }
  const details = { ...card, one_time_token: tokenOf(payment) }
  await submitCard(context, details, { scenario, recordEffects })
  return undefined
}
