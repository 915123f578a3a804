import { PLANS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { findPayment } from '../../pay/payments/store.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import type { ToolContext } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { countPlans, deletePlan, deletePlans, findPlans, insertPlan } from '../plans/store.ts'
import { defineEndpoint } from './endpoint.ts'
import { notFound, tooMany } from './errors.ts'
import { badTimes, newPlan, noEffect, plan, plans, presentPlan, readPlan } from './plan-wire.ts'

/** Plans for future payments and requests. `operations` are the endpoints that plans can name. */
export const planEndpoints = (
  context: ToolContext,
  operations: readonly Endpoint[],
): Endpoint[] => [
  createPlan(context, operations),
  listPlans(context),
  removePlans(context),
  removePlan(context),
]

const createPlan = (context: ToolContext, operations: readonly Endpoint[]) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/plans',
    operationId: 'createPlan',
    summary: 'Plan the outcome of future payments or requests',
    body: newPlan,
    needsBody: true,
    description: 'Either a scenario or a fault. A plan acts once, unless it says otherwise.',
    response: [201, 'The plan, with its defaults', plan],
    errors: () => [noEffect(), badTimes(), notFound('payment'), hasAll()],
    handler: async (request, { body }) => {
      const { database, time, newId } = context
      const { account } = request
      const read = readPlan(body, operations)
      const { payment_id } = read
      const exists =
        payment_id && findPayment(database, account.room, payment_id, time.now(account))
      if (payment_id !== undefined && !(await exists)) throw notFound('payment')
      const plan_id = newId(time.now(account), account.room)
      const made: Plan = { ...read, plan_id, room: account.room, seen: 0, acted: 0 }
      await untilWritten(async () => {
        if (await insertPlan(database, made)) return made
        if ((await countPlans(database, account.room)) >= PLANS) throw hasAll()
        return undefined
      })
      return presentPlan(made)
    },
  })

const hasAll = () => tooMany(`an account has at most ${PLANS} plans: delete some`)

const listPlans = ({ database }: ToolContext) =>
  defineEndpoint({
    method: 'GET',
    path: '/control/plans',
    operationId: 'listPlans',
    summary: 'List the plans, in the order in which they are checked',
    response: [200, 'The plans', plans],
    handler: async ({ account }) => ({
      results: (await findPlans(database, account.room)).map(presentPlan),
    }),
  })

const removePlans = ({ database }: ToolContext) =>
  defineEndpoint({
    method: 'DELETE',
    path: '/control/plans',
    operationId: 'deletePlans',
    summary: 'Delete all plans of the account',
    response: [204, 'All plans were deleted'],
    handler: ({ account }) => deletePlans(database, account.room),
  })

const removePlan = ({ database }: ToolContext) =>
  defineEndpoint({
    method: 'DELETE',
    path: '/control/plans/{plan_id}',
    operationId: 'deletePlan',
    summary: 'Delete a plan',
    inPath: 'A plan of the account',
    response: [204, 'It is deleted'],
    errors: () => [notFound('plan')],
    handler: async ({ account }, { id }) => {
      if (!(await deletePlan(database, account.room, id))) throw notFound('plan')
    },
  })
