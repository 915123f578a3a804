/** Finds the plans of a request: its scenarios and the fault that acts on it. Counts it for each fault that matches. */
import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { createGathering } from '../../core/gather.ts'
import { isWithoutPlans } from '../../core/invocation.ts'
import type { Database, Time } from '../../core/ports.ts'
import { untilWritten } from '../../core/retry.ts'
import type { Scenarios } from '../../pay/payments/commands.ts'
import { scenarioIn } from '../../pay/payments/payment.ts'
import { readNewPayment } from '../../pay/payments/request.ts'
import { findByToken, findPayment } from '../../pay/payments/store.ts'
import { formBody, isForm, jsonBody } from '../../platform/http/body.ts'
import { pathParam } from '../../platform/http/endpoint.ts'
import type { Json } from '../../platform/http/fields.ts'
import { recordEffectsOf } from '../../platform/http/request-state.ts'
import {
  asksForPayment,
  CREATION,
  delayOf,
  errorOf,
  evaluate,
  fieldsOf,
  matches,
  noteOn,
  type Plan,
  type PlanSubject,
  setsScenario,
} from './plan.ts'
import type { KnownPlans } from './store.ts'
import { countsOf, createWave, MOST_TOGETHER, type Seat } from './waves.ts'

type ScenarioPlans = Scenarios & { plan_id: string | undefined }

/** The fault that acts on a request, and the scenarios for the payment or refund that the request makes. */
export type PlansOfRequest = { fault?: Fault | undefined; scenario?: ScenarioPlans | undefined }

export type PlanPorts = { database: Database; time: Time }

export function createFindPlansOfRequest(ports: PlanPorts, { known, counted }: KnownPlans) {
  const { database } = ports
  // In a room one run follows the other, so that a compare-and-swap fails only against other instances.
  const countTogether = createGathering(MOST_TOGETHER, countFaults)
  const createInWaves = createGathering(MOST_TOGETHER, async (all: Creating[]) => {
    const sit = createWave(database, () => counted(all[0]?.room ?? ''), all.length)
    return Promise.all(all.map(({ create }) => create(sit())))
  })

  async function countFaults(requests: { account: Account; subject: PlanSubject }[]) {
    const room = requests[0]?.account.room ?? ''
    return untilWritten(async () => {
      const counts = countsOf((await counted(room)).filter(plan => !setsScenario(plan)))
      const faults = requests.map(({ account, subject }) => {
        const { acting, counted } = evaluate(counts.plans, subject)
        counts.note(counted)
        return acting && faultOf(acting, account, subject)
      })
      const statements = counts.statements()
      const isWritten = statements.length === 0 || (await database.write(statements))
      return isWritten ? faults : undefined
    })
  }

  function scenarioPlans(operation: string, { room }: Account): ScenarioPlans {
    let seat: Seat | undefined
    const found: ScenarioPlans = {
      plan_id: undefined,
      inTurn: create =>
        new Promise((resolve, reject) => {
          const inSeat = async (own: Seat) => {
            seat = own
            await create()
              .then(resolve, reject)
              .finally(() => own.end())
          }
          void createInWaves(room, { room, create: inSeat })
        }),
      async apply({ given, payment_id }) {
        const counts = await seat?.counts()
        const scenarios = counts?.plans.filter(setsScenario) ?? []
        const subject = { operation, given: fieldsOf(given), ...(payment_id && { payment_id }) }
        const { acting, counted } = evaluate(scenarios, subject, plan => noteOn(plan, given))
        counts?.note(counted)
        found.plan_id = acting?.plan_id
        return { applied: acting && scenarioIn(acting), write: seat?.write }
      },
    }
    return found
  }

  return async (operation: string, request: FastifyRequest): Promise<PlansOfRequest> => {
    if (isWithoutPlans(request.headers)) return {}
    const target = await targetOf(ports, request)
    if (!target) return {}
    const { account, lastPlan, payment } = target
    const all = await known(account.room, lastPlan)
    const plans = all.filter(({ on }) => on === undefined || on === operation)
    const subject = await subjectOf(operation, request, target, plans)
    const matching = plans.filter(plan => matches(plan, subject))
    const scenario = matching.some(setsScenario) ? scenarioPlans(operation, account) : undefined
    if (matching.every(setsScenario)) return { scenario }
    const fault = await countTogether(account.room, { account, subject })
    // Names the payment to the record, because the handler will not run.
    const concerned = fault?.plan.when === 'before' && (await payment())
    if (concerned) recordEffectsOf(request)?.({ account, payment: concerned })
    return { fault, scenario }
  }
}

/** `create` resolves, also if nothing was made. */
type Creating = { room: string; create: (seat: Seat) => Promise<void> }

export type Fault = ReturnType<typeof faultOf>

const faultOf = (plan: Plan, account: Account, { operation }: PlanSubject) => ({
  plan,
  account,
  /** Milliseconds. */
  delay: delayOf(plan, plan.seen + 1),
  error: plan.answer && errorOf(plan.answer, operation, account.behaviour),
  /** True once the plan has acted on the response. */
  hasActed: false,
})

type Target = NonNullable<Awaited<ReturnType<typeof targetOf>>>

/**
 * The account of a request, the plan_id of its last plan if the look-up of the key has read it, and a function that
 * reads the payment. Resolves to undefined for a token of no account.
 */
async function targetOf(ports: PlanPorts, request: FastifyRequest) {
  const { account, lastPlan } = request
  if (lastPlan === 'unknown') {
    const found = await findByToken(ports, tokenIn(request))
    if (!found) return undefined
    const { account, payment } = found
    const { payment_id } = payment
    return { account, lastPlan: undefined, payment_id, payment: async () => payment }
  }
  const { database, time } = ports
  const payment_id = pathParam(request, 'payment_id')
  return {
    account,
    lastPlan: lastPlan === 'none' ? undefined : lastPlan.plan_id,
    payment_id,
    payment: () => findPayment(database, account, payment_id, time.now(account)),
  }
}

/** The payment is read only if a plan needs it. */
async function subjectOf(
  operation: string,
  request: FastifyRequest,
  { payment_id, payment }: Target,
  plans: readonly Plan[],
): Promise<PlanSubject> {
  if (!plans.some(asksForPayment)) return { operation }
  if (operation === CREATION) return { operation, given: fieldsIn(request) }
  const found = await payment()
  return { operation, payment_id, given: found && fieldsOf(found.given) }
}

/** The fields of a new payment, with their defaults; unchanged if they are not valid. */
function fieldsIn(request: FastifyRequest): Json {
  let body: Json = {}
  try {
    body = jsonBody(request, 'P0197', ['amount'])
    return fieldsOf(readNewPayment(body, request.account.behaviour))
  } catch {
    return body
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
