/**
 * The effects of plans on requests. Plans are checked when a request has reached the handler of its endpoint: after
 * the checks of the key, path, method, media type, size and limits, and before its fields are read.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Database, Time } from '../../core/ports.ts'
import type { PlanHooks } from '../../platform/http/areas.ts'
import { createHolds } from './holds.ts'
import { createFindFault, type Fault } from './planning.ts'

export type Plans = {
  /** The number of requests that are held. They only wait. */
  held(): number
  hooks(operation: string): PlanHooks
}

type Ports = { database: Database; time: Time }

export function createPlans(ports: Ports, stopped: () => boolean): Plans {
  const holds = createHolds(ports.database, stopped)
  const findFault = createFindFault(ports)

  async function act(
    fault: Fault | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): Promise<void> {
    if (fault?.plan.when !== 'before') return done()
    await holds.hold(fault.account, request.raw.socket, fault.delay)
    fault.isOver = true
    const { plan, error } = fault
    if (plan.reset) {
      request.ended = 'reset'
      // The client does not receive it: the connection is reset once the request is recorded.
      return void reply.code(500).send()
    }
    if (error) request.ended = 'replaced'
    if (error?.status === 401) void reply.header('www-authenticate', 'Bearer')
    done(error)
  }

  async function actOnResponse(fault: Fault, request: FastifyRequest, reply: FastifyReply) {
    fault.isOver = true
    await holds.hold(fault.account, request.raw.socket, fault.delay)
    if (fault.plan.reset) request.ended = 'reset'
    if (!fault.error) return
    request.ended = 'replaced'
    reply.removeHeader('location')
    reply.removeHeader('allow')
    if (fault.error.status === 401) void reply.header('www-authenticate', 'Bearer')
  }

  return {
    held: holds.count,
    hooks: operation => ({
      preHandler(request, reply, done) {
        if (request.lastPlan === null) return done()
        findFault(operation, request).then(fault => {
          request.fault = fault
          void act(fault, request, reply, done)
        }, done)
      },
      onSend(request, reply, payload, done) {
        const { fault, planned } = request
        request.plan ??=
          fault?.plan.plan_id ?? (reply.statusCode === 201 ? planned?.plan_id : undefined) ?? null
        if (!fault || fault.isOver) return done(null, payload)
        // The error takes the place of the response: Fastify sends it as if the handler had thrown it.
        void actOnResponse(fault, request, reply).then(
          () => done(fault.error ?? null, payload),
          done,
        )
      },
      afterRecord(request, _reply, payload, done) {
        if (request.ended === 'reset') request.raw.socket.resetAndDestroy()
        done(null, payload)
      },
    }),
  }
}
