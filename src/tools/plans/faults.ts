/**
 * The effects of plans on requests. Plans are checked when a request has reached the handler of its endpoint: after
 * the checks of the key, path, method, media type, size and limits, and before its fields are read.
 */
import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ended, endingOf } from '../../core/signal.ts'
import type { ScenariosOf } from '../../pay/payments/commands.ts'
import type { PlanHooks } from '../../platform/http/areas.ts'
import type { Watch, WatchPorts } from '../watch.ts'
import { createFindPlansOfRequest, type Fault, type PlansOfRequest } from './find-plans.ts'
import { createPostpone } from './postpone.ts'
import { createKnownPlans } from './store.ts'

export type Plans = ReturnType<typeof createPlans>

export function createPlans(ports: WatchPorts & { watch: Watch }, stopped: () => boolean) {
  const known = createKnownPlans(ports.database)
  const findPlansOfRequest = createFindPlansOfRequest(ports, known)
  const found = new WeakMap<FastifyRequest, PlansOfRequest>()

  /**
   * Resolves after the delay; at once if the client leaves, the service stops or the account is reset or ended. Meanwhile
   * the request keeps its place, and its connection is not idle.
   */
  async function hold({ account: { room }, delay }: Fault, { raw: { socket } }: FastifyRequest) {
    if (delay === 0 || stopped() || socket.destroyed) return
    const { ending, stop } = endingOf(socket, delay)
    const offs = [stop, ports.signals.on([ended(room)], stop), ports.watch.join({ room })]
    await once(ending, 'abort')
    for (const off of offs) off()
  }

  /** Lets the fault act on the reply. If it has an error, the caller must still send that. */
  async function act(fault: Fault, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    fault.hasActed = true
    await hold(fault, request)
    const { error } = fault
    const { plan_id, reset, when } = fault.plan
    const answer = reset ? 'reset' : error && 'replaced'
    request.actingPlan = {
      plan_id,
      ...(answer && { ended: answer }),
      ...(reset && when === 'before' && { isUnanswered: true }),
    }
    if (!error) return
    reply.removeHeader('location')
    reply.removeHeader('allow')
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
            // The client does not receive this response: the connection is reset once the request is recorded.
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
