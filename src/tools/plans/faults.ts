/**
 * The effects of plans on requests. Plans are checked when a request has reached the handler of its endpoint: after
 * the checks of the key, path, method, media type, size and limits, and before its fields are read.
 */
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { Database, Time } from '../../core/ports.ts'
import type { ScenariosOf } from '../../pay/payments/commands.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import type { PlanHooks } from '../../platform/http/areas.ts'
import { createFindPlansOfRequest, type Fault, type PlansOfRequest } from './find-plans.ts'
import { createPostpone } from './postpone.ts'
import { createKnownPlans } from './store.ts'

export type Plans = ReturnType<typeof createPlans>

export function createPlans(ports: { database: Database; time: Time }, stopped: () => boolean) {
  const delays = createDelays(ports.database, stopped)
  const known = createKnownPlans(ports.database)
  const findPlansOfRequest = createFindPlansOfRequest(ports, known)
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

  const scenariosOf: ScenariosOf = request => found.get(request)?.scenario

  return {
    scenariosOf,
    postpone: createPostpone(ports, known),
    hooks: (operation: string): PlanHooks => ({
      preHandler(request, reply, done) {
        if (request.lastPlan === 'none') return done()
        findPlansOfRequest(operation, request)
          .then(async plans => {
            found.set(request, plans)
            const { fault } = plans
            if (fault?.plan.when !== 'before') return done()
            await act(fault, request, reply)
            // The client does not receive it: the connection is reset once the request is recorded.
            if (fault.plan.reset) void reply.code(500).send()
            else done(fault.error)
          })
          .catch(done)
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

/** Delays requests. They keep their places, and their connections are not idle. A delay ends when its client leaves. */
function createDelays(database: Database, stopped: () => boolean) {
  const delayed = new Set<{ account: Account; ending: AbortController }>()
  let isWatching = false

  /** One look at the accounts after the other, however long the database takes. A stop waits for none. */
  async function watch(): Promise<void> {
    isWatching = true
    let isLooking = false
    while (delayed.size > 0) {
      await setTimeout(CHECK_EVERY)
      if (stopped()) for (const { ending } of delayed) ending.abort()
      if (isLooking) continue
      isLooking = true
      void endWithAccounts().finally(() => {
        isLooking = false
      })
    }
    isWatching = false
  }

  async function endWithAccounts(): Promise<void> {
    for (const [name, group] of Map.groupBy(delayed, ({ account }) => account.name)) {
      // An unreachable database says nothing about the account.
      const now = await accountOfName(database, name).catch(() => group[0]?.account)
      for (const { account, ending } of group) if (account.room !== now?.room) ending.abort()
    }
  }

  return {
    /** Resolves after so many milliseconds; at once if the client leaves, the service stops or the account is reset or ended. */
    async wait(account: Account, socket: Socket, ms: number): Promise<void> {
      if (ms === 0 || stopped() || socket.destroyed) return
      const mine = { account, ending: new AbortController() }
      const leave = () => mine.ending.abort()
      socket.once('close', leave)
      delayed.add(mine)
      if (!isWatching) void watch()
      await setTimeout(ms, undefined, { signal: mine.ending.signal }).catch(() => undefined)
      delayed.delete(mine)
      socket.off('close', leave)
    },
  }
}
