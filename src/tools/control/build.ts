import type { Account } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import { remember } from '../../core/remember.ts'
import { createPayment, movePayment } from '../../pay/payments/commands.ts'
import { completeByScenario, MOVED_MEANWHILE, submitHeld } from '../../pay/payments/complete.ts'
import { checkMode, checkReturnUrl } from '../../pay/payments/mode.ts'
import type { AppliedScenario, NewPayment, Payment } from '../../pay/payments/payment.ts'
import { type Refund, refundScenarios } from '../../pay/payments/refund.ts'
import { newPayment, readNewPayment } from '../../pay/payments/request.ts'
import {
  paymentAddress,
  payment as paymentBody,
  presentPayment,
} from '../../pay/payments/response.ts'
import type { WantedScenario } from '../../pay/payments/scenario.ts'
import { countPayments, findPayment } from '../../pay/payments/store.ts'
import { createRefund } from '../../pay/refunds/commands.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { isObject, type Json } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { recordAction } from '../record/action.ts'
import { type ControlContext, defineEndpoint } from './endpoint.ts'
import { badField, conflict } from './errors.ts'
import { body, choice, isWhole, onlyTrue, readFields, schemasOf, type Values } from './fields.ts'
import { builtFields, wantedOf } from './scenario-wire.ts'

/** What POST /v1/payments takes: `readNewPayment` reads it. */
const unread = (schema: object) => ({ schema, rule: '', parse: (given: unknown) => given })

const refundFields = {
  amount: unread({ type: 'integer', minimum: 1 }),
  scenario: choice(refundScenarios),
}
const builtPayment = body(
  'BuiltPayment',
  {},
  {
    ...Object.fromEntries(
      Object.entries(newPayment.properties).map(([name, schema]) => [name, unread(schema)]),
    ),
    ...builtFields,
    capture: onlyTrue({ description: 'Then captures it' }),
    refund: unread({
      anyOf: [
        { const: true },
        { type: 'integer', minimum: 1 },
        object('BuiltRefund', {}, schemasOf(refundFields)),
      ],
      description:
        'Then refunds these pence; true, or an object without amount, refunds all. The scenario error lets the refund fail',
    }),
    cancel: onlyTrue({ description: 'Then cancels it through the API' }),
  },
)

const DEFAULTS = { amount: 1450, description: 'A payment' }
const RETURN_URL = 'https://service.example/return'

const MOST_ROOMS = 1_000

/** Makes a payment in any possible state, with the code of the endpoints that lead there. */
export const buildPayment = (context: ControlContext): Endpoint => {
  const nextReference = createNextReference(context)
  return defineEndpoint({
    method: 'POST',
    path: '/control/payments',
    operationId: 'buildPayment',
    summary: 'Make a payment in any state',
    body: builtPayment,
    description:
      'Takes every field of a new payment, each with a default, and then the steps in this order: scenario, capture, refund, cancel. Webhooks are sent as usual. It consumes no plan.',
    response: [201, 'The payment', paymentBody],
    errors: () => [
      notCapturable(),
      errors.missing(errors.fieldCodes.payment, 'return_url'),
      errors.invalid(errors.fieldCodes.payment, 'moto', 'must be true or false'),
      errors.unknownAgreement(),
      errors.unknownSetUpAgreement(),
      errors.notAllowed('moto', 'in this mode'),
      errors.outsideLimit(errors.fieldCodes.payment, 'amount', 'must be at most 10000000'),
      conflict(MOVED_MEANWHILE),
    ],
    async handler(_, { account, body, request, reply }) {
      const fields: Json = body
      const isWeb = (fields.authorisation_mode ?? 'web') === 'web'
      const reference = fields.reference ?? (await nextReference(account.room))
      const defaults = { ...DEFAULTS, ...(isWeb && { return_url: RETURN_URL }), reference }
      const { behaviour } = account
      const given = readNewPayment({ ...defaults, ...fields }, behaviour)
      checkReturnUrl(given, { behaviour, returnHosts: context.config.returnHosts })
      checkMode(given, { behaviour })
      const steps = stepsOf(body, given)
      const addresses = addressesOf(request, context.config)
      const { payment_id } = await recordAction(
        context,
        {
          by: 'control',
          operation: 'buildPayment',
          detail: ({ refund_id }: { refund_id: string | undefined }) =>
            refund_id ? `refund_id=${refund_id}` : '',
        },
        async context => {
          const made = await createPayment(context, {
            account,
            address: addresses.api,
            given,
            scenarios: {
              apply: async () => ({ applied: appliedTo(given, steps.wanted), counted: [] }),
            },
            origin: 'control',
          })
          const refund = await takeSteps(context, account, made, steps)
          return { payment_id: made.payment_id, refund_id: refund?.refund_id }
        },
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
    const made = await countPayments(database, room)
    const next = Math.max(made, latest.get(room) ?? 0) + 1
    remember(latest, room, next, MOST_ROOMS)
    return `payment-${next}`
  }
}

const notCapturable = () => badField('capture', 'needs delayed_capture and the scenario success')

/** The steps to take with the payment, in this order. Throws a 422 for the first that the state table does not have. */
function stepsOf(
  given: Values<typeof builtPayment.fields.optional>,
  { amount, authorisation_mode: mode, delayed_capture }: NewPayment,
) {
  const wanted = wantedOf(given, mode)
  const { capture = false, cancel = false, refund } = given
  const scenario = wanted.scenario ?? (mode === 'agreement' ? 'success' : undefined)
  const authorised = scenario === 'success' && !wanted.hold
  if (capture && !(authorised && delayed_capture)) throw notCapturable()
  const isSuccess = authorised && (capture || !delayed_capture)
  if (refund !== undefined && !isSuccess)
    throw badField('refund', 'needs a payment that is success: see scenario and capture')
  const isSubmitted = wanted.hold && scenario !== undefined && mode !== 'agreement'
  if (cancel && (isSuccess || isSubmitted || (scenario ?? 'success') !== 'success'))
    throw badField('cancel', 'needs a payment that can be cancelled: see scenario and hold')
  return { wanted, capture, refund: readRefund(refund, amount), cancel }
}

/** What the payment is created with. In agreement mode nobody completes it, unless it is held, or created to expire. */
function appliedTo(
  { authorisation_mode: mode }: NewPayment,
  { scenario, ...applied }: WantedScenario,
): AppliedScenario | undefined {
  if (mode === 'agreement' && scenario === 'expired') return { hold: true }
  if (scenario === 'expired' || (mode !== 'agreement' && !applied.hold)) return undefined
  return { ...applied, ...(scenario && { scenario }) }
}

/** In pence, of so many. */
function readRefund(given: unknown, amount: number) {
  if (given === undefined) return undefined
  const fields = isObject(given) ? given : { amount: given }
  const read = readFields(fields, { optional: refundFields }, 'refund.')
  const { amount: wanted = true, scenario = 'success' } = read
  const pence = wanted === true ? amount : wanted
  if (!isWhole(pence, 1, amount))
    throw badField('refund', `must be true or pence from 1 to ${amount}`)
  return { amount: pence, scenario }
}

/** Resolves to the refund, if that is one of the steps. */
async function takeSteps(
  context: ToolContext,
  account: Account,
  made: Payment,
  steps: ReturnType<typeof stepsOf>,
): Promise<Refund | undefined> {
  const { payment_id } = made
  const { scenario, hold } = steps.wanted
  const read = async () => ({ account, payment: await readBack(context, account, payment_id) })
  const move = (trigger: 'capture' | 'cancel') =>
    movePayment(context, read, trigger, status =>
      conflict(`another request moved the payment: it is ${status}`),
    )
  const hasEnded = made.given.authorisation_mode === 'agreement' && scenario !== 'expired'
  if (scenario && hold) await submitHeld(context, made)
  else if (scenario && !hasEnded) {
    const reason = await completeByScenario(context, made, { scenario })
    if (reason) throw conflict(reason)
  }
  if (steps.capture) await move('capture')
  if (steps.cancel) await move('cancel')
  if (!steps.refund) return undefined
  const { amount, scenario: end } = steps.refund
  return createRefund(context, {
    account,
    payment_id,
    refund: { amount },
    scenarios: { apply: async () => ({ applied: { scenario: end }, counted: [] }) },
  })
}

async function readBack({ database, time }: ToolContext, account: Account, payment_id: string) {
  const payment = await findPayment(database, account.room, payment_id, time.now(account))
  if (!payment) throw conflict('the account was reset, or its clock moved by 7 days')
  return payment
}
