import type { Account } from '../../core/account.ts'
import type { Time } from '../../core/ports.ts'
import {
  type Effects,
  mergeEffects,
  type RecordEffects,
} from '../../platform/http/request-state.ts'
import { type Actor, type NewAction, NO_REQUEST } from './exchange.ts'
import type { Recorder } from './recorder.ts'
import { effectFacts } from './row.ts'

/**
 * The words of a timeline, by operationId. They are not on the endpoints, because those of /control do not exist while
 * it is off, and the record shows their actions even then.
 */
export const actions = {
  completePayment: 'the outcome was chosen',
  capturePayment: 'the payment was captured',
  cancelPayment: 'the payment was cancelled',
  refundPayment: 'a refund was made',
  createPayment: 'the payment was made',
  buildPayment: 'the payment was made and brought into its state',
  askReceiver: 'the receiver was asked what its mistake is',
}

export type ActionName = keyof typeof actions

/** Such as `the outcome was chosen, refund error`. */
export function actionText({ operation, query }: Pick<NewAction, 'operation' | 'query'>): string {
  const text = Object.hasOwn(actions, operation) ? actions[operation as ActionName] : operation
  const outcome = /^(?:scenario=(\w+)|(capture|refund)=(\w+))$/.exec(query)
  if (!outcome) return text
  const [, scenario, step, end] = outcome
  return `${text}, ${scenario ?? `${step} ${end === 'true' ? 'success' : end}`}`
}

type Recording = { recorder: Recorder | undefined; time: Time }

type Details = Record<string, string | number | true | undefined>

/** `scenario=declined`. */
const queryOf = (details: Details): string =>
  Object.entries(details)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`))
    .join('&')

/**
 * Runs `act`, and records its effects as one action, even if it fails: the timeline says who did it. `detailsOf` returns
 * the details of the action, which are recorded as a query.
 */
export async function recordAction<Context extends Recording, Result>(
  context: Context,
  { by, operation }: { by: Actor; operation: ActionName },
  act: (context: Context) => Promise<Result>,
  detailsOf: (result: Result) => Details = () => ({}),
): Promise<Result> {
  const { recorder, time } = context
  const began = time.wall()
  let effects = null as Effects | null // set by `act`
  const recordEffects: RecordEffects = more => {
    effects = mergeEffects(effects, more)
  }
  let query = ''
  try {
    const result = await act({ ...context, recordEffects })
    query = queryOf(detailsOf(result))
    return result
  } finally {
    if (effects?.payment && effects.caused) {
      const { account, payment, caused } = effects
      const facts = effectFacts(payment, caused)
      const did = { began, by, operation, query, payment_id: payment.payment_id, caused, facts }
      await recorder?.action(account, newAction(time, account, did))
      // Written at once, because the next page lists the attempts.
      if (by === 'console') await recorder?.flush()
    }
  }
}

type Did = Pick<NewAction, 'began' | 'by' | 'payment_id'> &
  Partial<NewAction> & { operation: ActionName }

export const newAction = (time: Time, account: Account, did: Did): NewAction => ({
  ...NO_REQUEST,
  room: account.room,
  kind: 'action',
  at: time.now(account, did.began),
  ...did,
})
