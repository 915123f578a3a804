import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { Database, Time } from '../../core/ports.ts'
import type { Payment } from '../../pay/payments/payment.ts'
import { readNewPayment } from '../../pay/payments/request.ts'
import { findByToken, findPayment } from '../../pay/payments/store.ts'
import { formBody, isForm, jsonBody } from '../../platform/http/body.ts'
import { pathParam } from '../../platform/http/endpoint.ts'
import type { Json } from '../../platform/http/fields.ts'
import { recordEffectsOf } from '../../platform/http/request-state.ts'
import { asksForPayment, fieldsOf, type Met, type Plan } from './plan.ts'

/** The operation that creates payments. Plans compare the fields of its body. */
export const CREATION = 'createPayment'

/** The account of a request, and a function that finds its payment. */
type Subject = {
  account: Account
  find: () => Promise<Omit<Met, 'operation'>>
  /** Notes the payment for the record, because the handler will not run. */
  recordEffects: () => Promise<void>
}

/** Resolves undefined for a token of no account. */
export async function subjectOf(
  ports: { database: Database; time: Time },
  operation: string,
  request: FastifyRequest,
): Promise<Subject | undefined> {
  const { database, time } = ports
  const { account, lastPlan } = request
  const recordEffects = (account: Account, payment: Payment | undefined) =>
    payment && recordEffectsOf(request)?.(account, payment)
  if (lastPlan) {
    const payment_id = pathParam(request, 'payment_id')
    const payment = async () =>
      payment_id ? findPayment(database, account.room, payment_id, time.now(account)) : undefined
    return {
      account,
      async find() {
        if (operation === CREATION) return { given: givenIn(request) }
        const found = await payment()
        return { payment_id, ...(found && { given: fieldsOf(found.given) }) }
      },
      recordEffects: async () => recordEffects(account, await payment()),
    }
  }
  const found = await findByToken(ports, tokenIn(request))
  if (!found) return undefined
  const { payment_id, given } = found.payment
  return {
    account: found.account,
    find: async () => ({ payment_id, given: fieldsOf(given) }),
    recordEffects: async () => recordEffects(found.account, found.payment),
  }
}

/** The payment is read only if a plan needs it. */
export async function metBy(
  operation: string,
  { find }: Subject,
  plans: readonly Plan[],
): Promise<Met> {
  return { operation, ...(plans.some(asksForPayment) && (await find())) }
}

/** The fields of a new payment, with their defaults; unchanged if they are not valid. */
function givenIn(request: FastifyRequest): Json {
  try {
    const body = jsonBody(request, 'P0197', ['amount'])
    try {
      return fieldsOf(readNewPayment(body))
    } catch {
      return body
    }
  } catch {
    return {}
  }
}

function tokenIn(request: FastifyRequest): string {
  const inPath = pathParam(request, 'token')
  if (inPath) return inPath
  try {
    const fields = isForm(request)
      ? Object.fromEntries(formBody(request))
      : jsonBody(request, 'P0197')
    return String(fields.chargeTokenId ?? fields.one_time_token ?? '')
  } catch {
    return ''
  }
}
