import { PLANS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { findPayment } from '../../pay/payments/store.ts'
import { type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import { json, noContent, pathParameter, requestBody } from '../../platform/http/openapi.ts'
import type { ToolContext } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { countPlans, deletePlan, deletePlans, findPlans, insertPlan } from '../plans/store.ts'
import { readBody } from './body.ts'
import { badBody, notFound, tooMany, unknownField, unknownParameter } from './errors.ts'
import { badTimes, newPlan, noEffect, plan, plans, presentPlan, readPlan } from './plan-wire.ts'
import { readQuery } from './query.ts'

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

const createPlan = (context: ToolContext, operations: readonly Endpoint[]): Endpoint => ({
  method: 'POST',
  path: '/control/plans',
  area: 'control',
  operationId: 'createPlan',
  summary: 'Plan the outcome of future payments or requests',
  accepts: 'json',
  docs: () => ({
    description: 'Either a scenario or a fault. A plan acts once, unless it says otherwise.',
    requestBody: requestBody(newPlan),
    responses: { 201: json('The plan, with its defaults', plan) },
    errors: [...badBody(), noEffect(), badTimes(), unknownField(), notFound('payment'), hasAll()],
  }),
  handler: async (request, reply) => {
    const { database, time, newId } = context
    const { account } = request
    const read = readPlan(readBody(request, newPlan), operations)
    const { payment_id } = read
    const exists = payment_id && findPayment(database, account.room, payment_id, time.now(account))
    if (payment_id !== undefined && !(await exists)) throw notFound('payment')
    const plan_id = newId(time.now(account), account.room)
    const made: Plan = { ...read, plan_id, room: account.room, seen: 0, acted: 0 }
    await untilWritten(async () => {
      if (await insertPlan(database, made)) return made
      if ((await countPlans(database, account.room)) >= PLANS) throw hasAll()
      return undefined
    })
    void reply.code(201)
    return presentPlan(made)
  },
})

const hasAll = () => tooMany(`an account has at most ${PLANS} plans: delete some`)

const listPlans = ({ database }: ToolContext): Endpoint => ({
  method: 'GET',
  path: '/control/plans',
  area: 'control',
  operationId: 'listPlans',
  summary: 'List the plans, in the order in which they are checked',
  docs: () => ({
    responses: { 200: json('The plans', plans) },
    errors: [unknownParameter()],
  }),
  handler: async request => {
    readQuery(request, {})
    return { results: (await findPlans(database, request.account.room)).map(presentPlan) }
  },
})

const removePlans = ({ database }: ToolContext): Endpoint => ({
  method: 'DELETE',
  path: '/control/plans',
  area: 'control',
  operationId: 'deletePlans',
  summary: 'Delete all plans of the account',
  docs: () => ({
    responses: { 204: noContent('All plans were deleted') },
    errors: [unknownParameter()],
  }),
  handler: async (request, reply) => {
    readQuery(request, {})
    await deletePlans(database, request.account.room)
    return reply.code(204).send()
  },
})

const removePlan = ({ database }: ToolContext): Endpoint => ({
  method: 'DELETE',
  path: '/control/plans/{plan_id}',
  area: 'control',
  operationId: 'deletePlan',
  summary: 'Delete a plan',
  docs: () => ({
    parameters: [pathParameter('plan_id', 'A plan of the account')],
    responses: { 204: noContent('It is deleted') },
    errors: [notFound('plan'), unknownParameter()],
  }),
  handler: async (request, reply) => {
    readQuery(request, {})
    if (!(await deletePlan(database, request.account.room, pathParam(request, 'plan_id'))))
      throw notFound('plan')
    return reply.code(204).send()
  },
})
