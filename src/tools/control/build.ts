import type { Account, Behaviour } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import { mapValues } from '../../core/map-values.ts'
import { remember } from '../../core/remember.ts'
import { either, integer, oneOf, only } from '../../core/values.ts'
import { captureDelay } from '../../pay/differences/states.ts'
import { createPayment } from '../../pay/payments/commands.ts'
import { carryOut, moveOf } from '../../pay/payments/complete.ts'
import { currentPayment } from '../../pay/payments/due-steps.ts'
import { checkLeastAmount, checkMode, checkReturnUrl } from '../../pay/payments/mode.ts'
import {
  behaviourOf,
  isAuthorised,
  isFinished,
  type NewPayment,
  type Payment,
  type Scenario,
  statusOf,
} from '../../pay/payments/payment.ts'
import { type Refund, refundScenarios } from '../../pay/payments/refund.ts'
import { newPayment, readNewPayment } from '../../pay/payments/request.ts'
import { paymentAddress, presentPayment } from '../../pay/payments/response.ts'
import { countPayments } from '../../pay/payments/store.ts'
import type { Trigger } from '../../pay/payments/transitions.ts'
import { createRefund } from '../../pay/refunds/commands.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { isObject, type Json } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { recordAction } from '../record/action.ts'
import { badField, conflict } from '../steer/errors.ts'
import { body, readFields, schemasOf, type Values } from '../steer/fields.ts'
import { builtFields, wantedOf } from '../steer/scenario-wire.ts'
import { shownPayment } from '../steer/schemas.ts'
import { type ControlContext, defineEndpoint } from './endpoint.ts'

/** A field that is not read here. `readNewPayment` reads the fields of POST /v1/payments. */
const unread = (schema: object) => ({ schema, rule: '', read: (input: unknown) => input })

const refundFields = {
  amount: unread({ type: 'integer', minimum: 1 }),
  scenario: oneOf(refundScenarios),
}
const builtPayment = body('BuiltPayment', {
  ...mapValues(newPayment.properties, unread),
  ...builtFields,
  capture: either(only(true), oneOf(['held', 'error']), {
    description:
      'Then captures it. Under govuk-pay also of a payment without delayed_capture; `held`: the capture waits until it is completed, `error`: it fails',
  }),
  refund: unread({
    anyOf: [
      { const: true },
      { type: 'integer', minimum: 1 },
      object('BuiltRefund', {}, schemasOf(refundFields)),
    ],
    description:
      'Then refunds these pence; true, or an object without amount, refunds all. The scenario error lets the refund fail',
  }),
  cancel: only(true, { description: 'Then cancels it through the API' }),
})

const DEFAULTS = { amount: 1450, description: 'A payment', reference: 'payment-1' }
const RETURN_URL = 'https://service.example.org/return'

const MOST_ROOMS = 1_000

/** Makes a payment in any possible state, with the code of the endpoints that lead there. */
export const buildPayment = (context: ControlContext): Endpoint => {
  const nextReference = createNextReference(context)
  return defineEndpoint({
    route: 'POST /control/payments',
    operationId: 'buildPayment',
    summary: 'Make a payment in any state',
    body: builtPayment,
    description:
      'Takes every field of a new payment, each with a default, and then the steps in this order: scenario, capture, refund, cancel. Webhooks are sent as usual. It consumes no plan.',
    response: [201, 'The payment', shownPayment],
    errors: () => [
      notCapturable(),
      errors.missing(errors.fieldCodes.payment, 'return_url'),
      errors.invalid(errors.fieldCodes.payment, 'moto', 'must be true or false'),
      errors.unknownAgreement(),
      errors.unknownSetUpAgreement(),
      errors.notAllowed('moto', 'in this mode'),
      errors.outsideLimit(errors.fieldCodes.payment, 'amount', 'must be at most 10000000'),
      movedMeanwhile(),
    ],
    async handler(_, { account, body, request, reply }) {
      const fields: Json = body
      const isWeb = (fields.authorisation_mode ?? 'web') === 'web'
      const defaults = { ...DEFAULTS, ...(isWeb && { return_url: RETURN_URL }) }
      const { behaviour } = account
      const given = readNewPayment({ ...defaults, ...fields }, behaviour)
      checkReturnUrl(given, { ...context.config, behaviour })
      checkMode(given, { behaviour })
      checkLeastAmount(given, behaviour)
      const steps = stepsOf(body, given, behaviour)
      // After these checks: what they refuse uses up no number.
      if (fields.reference === undefined) given.reference = await nextReference(account.room)
      const addresses = addressesOf(request, context.config)
      const { payment_id } = await recordAction(
        context,
        { by: 'control', operation: 'buildPayment' },
        async context => {
          const created = await createPayment(context, {
            account,
            address: addresses.api,
            given,
            scenarios: { apply: async () => ({ applied: appliedTo(given, steps.wanted) }) },
            origin: 'control',
          })
          const refund = await takeSteps(context, account, created, steps)
          return { payment_id: created.payment_id, refund_id: refund?.refund_id }
        },
        ({ refund_id }) => ({ refund_id }),
      )
      const payment = await readBack(context, account, payment_id)
      void reply.header('location', paymentAddress(payment_id, addresses))
      return presentPayment(payment, addresses)
    },
  })(context)
}

/** `payment-1`, `payment-2` and so on. Two instances that are asked at once may return the same. */
function createNextReference({ database }: ToolContext) {
  const latest = new Map<string, number>()
  return async (room: string): Promise<string> => {
    const payments = await countPayments(database, room)
    const next = Math.max(payments, latest.get(room) ?? 0) + 1
    remember(latest, room, next, MOST_ROOMS)
    return `payment-${next}`
  }
}

const notCapturable = (asked = 'delayed_capture and ') =>
  badField('capture', `needs ${asked}the scenario success`)

/** The steps to take with the payment, in order. Throws a 422 for the first step that the state table does not have. */
function stepsOf(
  given: Values<typeof builtPayment.fields.optional>,
  { amount, authorisation_mode: mode, delayed_capture }: NewPayment,
  behaviour: Behaviour,
) {
  const { capture, cancel = false, refund, ...ending } = given
  const planned = capture === true ? undefined : capture
  const asked = { ...ending, ...(planned && { capture: planned }) }
  const wanted = wantedOf(asked, behaviour, mode)
  const isAtOnce = captureDelay[behaviour] === 0
  const isCharged = mode === 'agreement' && (isAtOnce || capture || refund !== undefined)
  const scenario = wanted.scenario ?? (isCharged ? 'success' : undefined)
  const authorised = scenario === 'success' && !wanted.hold && wanted.confirm !== false
  if (capture && isAtOnce && !(authorised && delayed_capture)) throw notCapturable()
  if (capture && !authorised) throw notCapturable('')
  const isSuccess = authorised && (capture || !delayed_capture)
  if (refund !== undefined && !(isSuccess && !planned))
    throw badField('refund', 'needs a payment that is success: see scenario and capture')
  const hasEnded = isSuccess || (scenario ?? 'success') !== 'success'
  if (cancel && (hasEnded || (mode === 'agreement' && !authorised)))
    throw badField('cancel', 'needs a payment that can be cancelled: see scenario and hold')
  return {
    wanted: { ...wanted, ...(scenario && { scenario }) },
    capture,
    refund: readRefund(refund, amount),
    cancel,
  }
}

/** The scenario with which the payment is created. In agreement mode this may include its end. */
function appliedTo(
  { authorisation_mode: mode }: NewPayment,
  { scenario, confirm, ...applied }: Scenario,
): Scenario {
  return { ...applied, ...(mode === 'agreement' && scenario && { scenario }) }
}

/** The refund in pence. `amount` is the amount of the payment. */
function readRefund(input: unknown, amount: number) {
  if (input === undefined) return undefined
  const fields = isObject(input) ? input : { amount: input }
  const read = readFields(fields, { optional: refundFields }, 'refund.')
  const { amount: wanted = true, scenario = 'success' } = read
  const pence = wanted === true ? amount : wanted
  const known = integer(1, amount).read(pence)
  if (known === undefined) throw badField('refund', `must be true or pence from 1 to ${amount}`)
  return { amount: known, scenario }
}

/** Resolves to the refund, if one of the steps makes it. */
async function takeSteps(
  context: ToolContext,
  account: Account,
  payment: Payment,
  { wanted, capture, refund, cancel }: ReturnType<typeof stepsOf>,
): Promise<Refund | undefined> {
  const { payment_id, given } = payment
  const move = async (trigger: Trigger) => {
    if (!(await moveOf(context, account, payment_id, trigger))?.moved) throw movedMeanwhile()
  }
  if (wanted.scenario && !wanted.hold && !isFinishedOrPaid(payment)) {
    const result = await carryOut(context, account, payment, wanted)
    if (!result?.moved) throw movedMeanwhile()
  }
  if (capture && given.delayed_capture) await move('capture')
  if (captureDelay[behaviourOf(payment)] > 0) {
    if (capture === 'error') await move('fail_capture')
    if (capture === true || refund) await move('confirm_capture')
  }
  if (cancel) await move('cancel')
  if (!refund) return undefined
  const { amount, scenario: end } = refund
  return createRefund(context, {
    account,
    payment_id,
    refund: { amount },
    scenarios: { apply: async () => ({ applied: { scenario: end } }) },
  })
}

/** In agreement mode a payment has ended when it is made, or is charged at once here. */
const isFinishedOrPaid = (payment: Payment): boolean =>
  isFinished(statusOf(payment)) || isAuthorised(payment)

const movedMeanwhile = () => conflict('another request moved the payment meanwhile: read it')

async function readBack(context: ToolContext, account: Account, payment_id: string) {
  const payment = await currentPayment(context, account, payment_id)
  if (!payment) throw conflict('the account was reset, or its clock moved by 7 days')
  return payment
}
