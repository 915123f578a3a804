/** Takes a payment to its end, as its user would. */
import type { Account } from '../../core/account.ts'
import { cardOfAgreement } from '../agreements/store.ts'
import { DECLINED_CARD, MOCK_CARD, submittedCard } from '../card.ts'
import type { Context } from '../context.ts'
import { changePayment, movePayment } from './commands.ts'
import { reading } from './due-steps.ts'
import { mockCardOf, type Payment, type Scenario } from './payment.ts'
import { pursue } from './scenario.ts'
import type { Trigger } from './transitions.ts'

/** Moves a payment of the account. Undefined if there is none; not moved if its state does not allow it. */
export const moveOf = (context: Context, account: Account, payment_id: string, trigger: Trigger) =>
  movePayment(context, reading(context, account, payment_id), trigger)

/**
 * Takes a payment to the end of a scenario: a web payment by the steps of its pages, a moto_api payment by a test card,
 * one in agreement mode by the card of its agreement. Not moved if no transition leads there from its state.
 */
export async function carryOut(
  context: Context,
  account: Account,
  payment: Payment,
  wanted: Scenario,
) {
  const card = await cardFor(context, payment, wanted)
  return changePayment(context, reading(context, account, payment.payment_id), (found, now) =>
    pursue(found, wanted, now, card),
  )
}

async function cardFor({ database }: Context, payment: Payment, { scenario }: Scenario) {
  const { agreement_id } = payment.given
  if (agreement_id) return cardOfAgreement(database, payment.room, agreement_id)
  const { cardholder_name = '', expiry_date = '' } = mockCardOf(payment)
  const number = scenario === 'declined' ? DECLINED_CARD : MOCK_CARD
  return submittedCard(number, cardholder_name, expiry_date)
}
