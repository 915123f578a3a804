import type { Action } from '../../recorder/action.ts'

/**
 * What can be done to a payment, by operationId, as the timeline names it. The type keeps every use of a name to these;
 * a test compares them with the endpoints.
 */
export const actions = {
  completePayment: 'the outcome was chosen',
  capturePayment: 'the payment was captured',
  cancelPayment: 'the payment was cancelled',
  refundPayment: 'a refund was made',
  createPayment: 'the payment was made',
  buildPayment: 'the payment was made and brought into its state',
}

export type ActionName = keyof typeof actions

export const REFUND: ActionName = 'refundPayment'

/** undefined for an operation that is none of them. */
export const nameOfAction = (operation: string): string | undefined =>
  Object.hasOwn(actions, operation) ? actions[operation as ActionName] : undefined

export const inConsole = <Result>(
  operation: ActionName,
  detail: (result: Result) => string,
): Action<Result> => ({ by: 'console', operation, detail })
