import { deletePlan, deletePlans, findPlans } from '../plans/store.ts'
import { badField, notFound } from '../steer/errors.ts'
import { newPlan, noEffect, plan, plans, presentPlan } from '../steer/plan-wire.ts'
import { hasAllPlans, makePlan } from '../steer/plans.ts'
import { defineEndpoint } from './endpoint.ts'

export const createPlan = defineEndpoint({
  route: 'POST /control/plans',
  operationId: 'createPlan',
  summary: 'Plan the outcome of future payments or requests',
  body: newPlan,
  needsBody: true,
  description: 'Either a scenario or a fault. A plan acts once, unless it says otherwise.',
  response: [201, 'The plan, with its defaults', plan],
  errors: () => [
    noEffect(),
    badField('times', 'must be always or a whole number'),
    notFound('payment'),
    hasAllPlans(),
  ],
  handler: async (context, { account, body }) =>
    presentPlan(await makePlan(context, account, body)),
})

export const listPlans = defineEndpoint({
  route: 'GET /control/plans',
  operationId: 'listPlans',
  summary: 'List the plans, in the order in which they are checked',
  response: [200, 'The plans', plans],
  handler: async ({ database }, { account }) => ({
    results: (await findPlans(database, account.room)).map(presentPlan),
  }),
})

export const removePlans = defineEndpoint({
  route: 'DELETE /control/plans',
  operationId: 'deletePlans',
  summary: 'Delete all plans of the account',
  response: [204, 'All plans were deleted'],
  handler: ({ database }, { account }) => deletePlans(database, account.room),
})

export const removePlan = defineEndpoint({
  route: 'DELETE /control/plans/{plan_id}',
  operationId: 'deletePlan',
  summary: 'Delete a plan',
  inPath: 'A plan of the account',
  response: [204, 'It is deleted'],
  errors: () => [notFound('plan')],
  async handler({ database }, { account, id }) {
    if (!(await deletePlan(database, account.room, id))) throw notFound('plan')
  },
})
