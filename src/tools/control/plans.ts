import { PLANS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { findPayment } from '../../pay/payments/store.ts'
import type { Plan } from '../plans/plan.ts'
import { countPlans, deletePlan, deletePlans, findPlans, insertPlan } from '../plans/store.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField, notFound, tooMany } from './errors.ts'
import { newPlan, noEffect, plan, plans, presentPlan, readPlan } from './plan-wire.ts'

export const createPlan = defineEndpoint({
  method: 'POST',
  path: '/control/plans',
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
    hasAll(),
  ],
  async handler({ database, time, newId, operations }, { account, body }) {
    const { room, behaviour } = account
    const read = readPlan(body, { operations, behaviour })
    const { payment_id } = read
    const now = time.now(account)
    if (payment_id !== undefined && !(await findPayment(database, room, payment_id, now)))
      throw notFound('payment')
    const made: Plan = { ...read, plan_id: newId(now, room), room, seen: 0, acted: 0 }
    await untilWritten(async () => {
      if (await insertPlan(database, made)) return made
      if ((await countPlans(database, room)) >= PLANS) throw hasAll()
      return undefined
    })
    return presentPlan(made)
  },
})

const hasAll = () => tooMany(`an account has at most ${PLANS} plans: delete some`)

export const listPlans = defineEndpoint({
  method: 'GET',
  path: '/control/plans',
  operationId: 'listPlans',
  summary: 'List the plans, in the order in which they are checked',
  response: [200, 'The plans', plans],
  handler: async ({ database }, { account }) => ({
    results: (await findPlans(database, account.room)).map(presentPlan),
  }),
})

export const removePlans = defineEndpoint({
  method: 'DELETE',
  path: '/control/plans',
  operationId: 'deletePlans',
  summary: 'Delete all plans of the account',
  response: [204, 'All plans were deleted'],
  handler: ({ database }, { account }) => deletePlans(database, account.room),
})

export const removePlan = defineEndpoint({
  method: 'DELETE',
  path: '/control/plans/{plan_id}',
  operationId: 'deletePlan',
  summary: 'Delete a plan',
  inPath: 'A plan of the account',
  response: [204, 'It is deleted'],
  errors: () => [notFound('plan')],
  async handler({ database }, { account, id }) {
    if (!(await deletePlan(database, account.room, id))) throw notFound('plan')
  },
})
