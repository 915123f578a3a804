/**
 * The effects of plans on requests. Plans are checked when a request has reached the handler of its endpoint: after
 * the checks of the key, path, method, media type, size and limits, and before its fields are read.
 */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { Database, Time } from '../../core/ports.ts'
import type { WithScenario } from '../../pay/payments/commands.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import type { PlanHooks } from '../../platform/http/areas.ts'
import { createFindPlansOfRequest, type Fault, type PlansOfRequest } from './find-plans.ts'

export type Plans = {
  /** The number of requests that are delayed. They only wait. */
  delayed(): number
  hooks(operation: string): PlanHooks
  withScenario: WithScenario
}

type PlanPorts = { database: Database; time: Time }

export function createPlans(ports: PlanPorts, stopped: () => boolean): Plans {
  const delays = createDelays(ports.database, stopped)
  const findPlansOfRequest = createFindPlansOfRequest(ports)
  const found = new WeakMap<FastifyRequest, PlansOfRequest>()

  /** Has the effect of the fault on the reply. Its error, if it has one, is still to be sent. */
  async function act(fault: Fault, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    fault.hasActed = true
    await delays.wait(fault.account, request.raw.socket, fault.delay)
    const { error } = fault
    const { plan_id, reset, when } = fault.plan
    const ended = reset ? 'reset' : error && 'replaced'
    request.actingPlan = {
      plan_id,
      ...(ended && { ended }),
      ...(reset && when === 'before' && { isUnanswered: true }),
    }
    if (!error) return
    reply.removeHeader('location')
    reply.removeHeader('allow')
    if (error.status === 401) void reply.header('www-authenticate', 'Bearer')
  }

  async function actBeforeHandler(
    fault: Fault | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): Promise<void> {
    if (fault?.plan.when !== 'before') return done()
    await act(fault, request, reply)
    // The client does not receive it: the connection is reset once the request is recorded.
    if (fault.plan.reset) void reply.code(500).send()
    else done(fault.error)
  }

  return {
    delayed: delays.count,
    withScenario(request, create) {
      const scenario = found.get(request)?.scenario
      return scenario ? scenario.withLock(() => create(scenario.apply)) : create(undefined)
    },
    hooks: operation => ({
      preHandler(request, reply, done) {
        if (request.lastPlan === 'none') return done()
        findPlansOfRequest(operation, request).then(each => {
          found.set(request, each)
          void actBeforeHandler(each.fault, request, reply, done)
        }, done)
      },
      onSend(request, reply, payload, done) {
        const { fault, scenario } = found.get(request) ?? {}
        if (!fault && scenario?.plan_id && reply.statusCode < 300)
          request.actingPlan = { plan_id: scenario.plan_id }
        if (!fault || fault.hasActed) return done(null, payload)
        // The error takes the place of the response: Fastify sends it as if the handler had thrown it.
        void act(fault, request, reply).then(() => done(fault.error ?? null, payload), done)
      },
      afterRecord(request, _reply, payload, done) {
        if (request.actingPlan?.ended === 'reset') request.raw.socket.resetAndDestroy()
        done(null, payload)
      },
    }),
  }
}

/** Milliseconds between two checks of whether the service stops or an account was reset. */
const CHECK_EVERY = 100

type DelayedRequest = { account: Account; end: () => void }

type Delays = {
  count(): number
  /** Resolves after so many milliseconds; at once if the service stops or the account is reset or ended. */
  wait(account: Account, socket: Socket, ms: number): Promise<void>
}

/** Delays requests. They cost no work, and their connections are not idle. */
function createDelays(database: Database, stopped: () => boolean): Delays {
  const delayed = new Set<DelayedRequest>()
  let checking: NodeJS.Timeout | undefined

  async function check(): Promise<void> {
    if (stopped()) for (const { end } of delayed) end()
    for (const [name, group] of Map.groupBy(delayed, ({ account }) => account.name)) {
      // An unreachable database says nothing about the account.
      const now = await accountOfName(database, name).catch(() => group[0]?.account)
      for (const { account, end } of group) if (account.room !== now?.room) end()
    }
  }

  return {
    count: () => delayed.size,
    async wait(account, socket, ms) {
      if (ms === 0 || stopped()) return
      const { timeout = 0 } = socket
      socket.setTimeout(0)
      await new Promise<void>(resolve => {
        const timer = setTimeout(end, ms)
        const mine = { account, end }
        function end(): void {
          clearTimeout(timer)
          delayed.delete(mine)
          if (delayed.size === 0) {
            clearInterval(checking)
            checking = undefined
          }
          resolve()
        }
        delayed.add(mine)
        checking ??= setInterval(() => void check(), CHECK_EVERY)
      })
      socket.setTimeout(timeout)
    },
  }
}
