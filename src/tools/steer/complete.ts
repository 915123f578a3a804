/** Takes a payment to its end, as its pages, its card or its plan would. */
import type { Account } from '../../core/account.ts'
import { carryOut, moveOf } from '../../pay/payments/complete.ts'
import { behaviourOf, type Choice, type Payment } from '../../pay/payments/payment.ts'
import { impossibleFor } from '../../pay/payments/scenario.ts'
import { completeRefunds } from '../../pay/refunds/commands.ts'
import type { ToolContext } from '../context.ts'
import { recordAction } from '../record/action.ts'
import { conflict } from './errors.ts'
import type { Values } from './fields.ts'
import { type completionFields, wantedOf } from './scenario-wire.ts'

export type Completion = Values<typeof completionFields>

const endOf = ({ hold, scenario: planned }: Payment, scenario: Choice | undefined): Choice =>
  scenario ?? (hold && planned) ?? 'success'

/** Ends a payment, its capture or its refunds, and records who did. Resolves to false if the state forbids it. */
export const completePayment = (
  context: ToolContext,
  account: Account,
  payment: Payment,
  { by, ...wanted }: Completion & { by: 'control' | 'console' },
): Promise<boolean> =>
  recordAction(
    context,
    { by, operation: 'completePayment' },
    context => complete(context, account, payment, wanted),
    () => {
      const { capture, refund, scenario } = wanted
      return capture || refund ? { capture, refund } : { scenario: endOf(payment, scenario) }
    },
  )

async function complete(
  context: ToolContext,
  account: Account,
  payment: Payment,
  { capture, refund, ...given }: Completion,
): Promise<boolean> {
  const { payment_id, given: made } = payment
  if (refund)
    return completeRefunds(context, account, payment_id, refund === true ? 'success' : refund)
  if (capture) {
    const behaviour = behaviourOf(payment)
    wantedOf({ capture: 'error' }, behaviour)
    const trigger = capture === true ? 'confirm_capture' : 'fail_capture'
    return (await moveOf(context, account, payment_id, trigger))?.moved ?? false
  }
  const wanted = wantedOf(
    { ...given, scenario: endOf(payment, given.scenario) },
    behaviourOf(payment),
  )
  const impossible = impossibleFor({ mode: made.authorisation_mode }, wanted)
  if (impossible) throw conflict(`${impossible.field} ${impossible.rule}`)
  return (await carryOut(context, account, payment, wanted))?.moved ?? false
}
