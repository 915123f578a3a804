/** Finds the plan that acts on a request, and counts the request for every plan that it matched. */
import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { ApiError } from '../../core/errors.ts'
import type { Database, Time } from '../../core/ports.ts'
import { untilWritten } from '../../core/retry.ts'
import type { Bind } from '../../pay/payments/commands.ts'
import { createKnownPlans } from './known.ts'
import { delayOf, errorOf, fieldsOf, type Met, matches, meet, type Plan } from './plan.ts'
import { countRequest, findPlans } from './store.ts'
import { CREATION, metBy, subjectOf } from './subject.ts'
import { createTurns } from './turns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The fault of the plan that acts on it. */
    fault?: Fault | undefined
    /** Receives the scenario of the payment that the request creates, if a plan sets one. */
    planned?: Planned | undefined
  }
}

export type Fault = {
  plan: Plan
  account: Account
  /** Milliseconds. */
  delay: number
  error: ApiError | undefined
  /** True once the plan has acted on the response. */
  isOver: boolean
}

type Planned = {
  bind: Bind
  /** The plan that set the scenario. */
  plan_id?: string
  /** Runs one creation at a time, because each counts the same plans. */
  inTurn<Result>(create: () => Promise<Result>): Promise<Result>
}

/** Sets `request.planned`, and resolves to the fault that acts on the request, if one does. */
type FindFault = (operation: string, request: FastifyRequest) => Promise<Fault | undefined>

type Ports = { database: Database; time: Time }

export function createFindFault(ports: Ports): FindFault {
  const { database } = ports
  const inTurn = createTurns()
  const knownPlans = createKnownPlans(database)

  return async (operation, request) => {
    const subject = await subjectOf(ports, operation, request)
    if (!subject) return undefined
    const { account } = subject
    const known = await knownPlans(account.room, request.lastPlan ?? undefined)
    const plans = known.filter(({ on }) => on === undefined || on === operation)
    const met = await metBy(operation, subject, plans)
    const { faults, scenarios } = sorted(plans.filter(plan => matches(plan, met)))
    if (operation === CREATION && scenarios.length > 0) request.planned = plannedFor(account)
    if (faults.length === 0) return undefined
    const fault = await inTurn(account.room, () => count(account, met))
    if (fault?.plan.when === 'before') await subject.recordEffects()
    return fault
  }

  async function count(account: Account, met: Met): Promise<Fault | undefined> {
    const { fault } = await untilWritten(async () => {
      const { faults } = sorted(await findPlans(database, account.room))
      const { acting, counted } = meet(faults, met)
      const fault = acting && faultOf(acting, account)
      const isCounted = counted.length === 0 || (await database.write(counted.map(countRequest)))
      return isCounted ? { fault } : undefined
    })
    return fault
  }

  function plannedFor({ room }: Account): Planned {
    const planned: Planned = {
      inTurn: create => inTurn(room, create),
      async bind(given) {
        const { scenarios } = sorted(await findPlans(database, room))
        const { acting, counted } = meet(scenarios, { operation: CREATION, given: fieldsOf(given) })
        if (acting) planned.plan_id = acting.plan_id
        else delete planned.plan_id
        return { scenario: acting?.scenario, counted: counted.map(countRequest) }
      },
    }
    return planned
  }
}

function sorted(plans: Plan[]) {
  const { fault = [], scenario = [] } = Object.groupBy(plans, plan =>
    plan.scenario === undefined ? 'fault' : 'scenario',
  )
  return { faults: fault, scenarios: scenario }
}

const faultOf = (plan: Plan, account: Account): Fault => ({
  plan,
  account,
  delay: delayOf(plan, plan.seen + 1),
  error: plan.answer && errorOf(plan.answer),
  isOver: false,
})
