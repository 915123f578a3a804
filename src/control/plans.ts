import type { Context } from '../context.ts'
import { type Endpoint, pathParam } from '../http/endpoint.ts'
import { findPayment } from '../payments/store.ts'
import type { Plan } from '../plans/plan.ts'
import {
  countPlans,
  deletePlan,
  deletePlans,
  findPlans,
  insertPlan,
  MOST_PLANS,
} from '../plans/store.ts'
import { untilWritten } from '../retry.ts'
import { readBody } from './body.ts'
import type { ControlEndpoint } from './docs.ts'
import { notFound, tooMany } from './errors.ts'
import { PLAN_FIELDS, presentPlan, readPlan } from './plan-wire.ts'
import { readQuery } from './query.ts'

/** Plans for future payments and requests. `operations` are the endpoints that plans can name. */
export const planEndpoints = (
  context: Context,
  operations: readonly Endpoint[],
): ControlEndpoint[] => [
  createPlan(context, operations),
  listPlans(context),
  removePlans(context),
  removePlan(context),
]

const createPlan = (context: Context, operations: readonly Endpoint[]): ControlEndpoint => ({
  method: 'POST',
  path: '/control/plans',
  operationId: 'createPlan',
  summary: 'Plan the outcome of future payments or requests',
  accepts: 'json',
  handler: async (request, reply) => {
    const { database, time, newId } = context
    const { account } = request
    const read = readPlan(readBody(request, PLAN_FIELDS), operations)
    const { payment_id } = read
    const exists = payment_id && findPayment(database, account.room, payment_id, time.now(account))
    if (payment_id !== undefined && !(await exists)) throw notFound('payment')
    const plan_id = newId(time.now(account), account.room)
    const plan: Plan = { ...read, plan_id, account: account.room, seen: 0, acted: 0 }
    await untilWritten(async () => {
      if (await insertPlan(database, plan)) return plan
      if ((await countPlans(database, account.room)) >= MOST_PLANS)
        throw tooMany(`an account has at most ${MOST_PLANS} plans: delete some`)
      return undefined
    })
    void reply.code(201)
    return presentPlan(plan)
  },
})

const listPlans = ({ database }: Context): ControlEndpoint => ({
  method: 'GET',
  path: '/control/plans',
  operationId: 'listPlans',
  summary: 'List the plans, in the order in which they are checked',
  handler: async request => {
    readQuery(request, {})
    return { results: (await findPlans(database, request.account.room)).map(presentPlan) }
  },
})

const removePlans = ({ database }: Context): ControlEndpoint => ({
  method: 'DELETE',
  path: '/control/plans',
  operationId: 'deletePlans',
  summary: 'Delete all plans of the account',
  handler: async (request, reply) => {
    await deletePlans(database, request.account.room)
    return reply.code(204).send()
  },
})

const removePlan = ({ database }: Context): ControlEndpoint => ({
  method: 'DELETE',
  path: '/control/plans/{plan_id}',
  operationId: 'deletePlan',
  summary: 'Delete a plan',
  handler: async (request, reply) => {
    if (!(await deletePlan(database, request.account.room, pathParam(request, 'plan_id'))))
      throw notFound('plan')
    return reply.code(204).send()
  },
})
