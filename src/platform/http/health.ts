import type { Database } from '../../core/ports.ts'
import { oneAtATime } from '../../core/remember.ts'
import { type Endpoint, inArea } from './endpoint.ts'
import { json } from './openapi.ts'
import { object } from './schema.ts'

const health = inArea('health')

/** Endpoints for process managers and load balancers. They need no key and give no detail. */
export function healthEndpoints(
  { database }: { database: Pick<Database, 'check'> },
  isStopping: () => boolean,
): Endpoint[] {
  const isUsable = oneAtATime(() =>
    database.check().then(
      () => true,
      () => false,
    ),
  )
  return [
    {
      ...health('GET', '/healthz', 'readHealth', 'Check that the service is alive'),
      docs: () => ({
        description: 'It does not ask the database.',
        responses: { 200: healthy('It is alive') },
      }),
      handler: async () => ({ status: 'ok' }),
    },
    {
      ...health('GET', '/readyz', 'readReadiness', 'Check that the service can serve requests'),
      docs: () => ({
        responses: {
          200: healthy('It can serve requests'),
          503: json(
            'The database cannot be reached or written to, or the service is stopping',
            unavailable,
          ),
        },
      }),
      handler: async (_request, reply) => {
        if ((await isUsable()) && !isStopping()) return { status: 'ok' }
        return reply.code(503).send({ status: 'unavailable' })
      },
    },
    {
      method: 'GET',
      path: '/healthcheck',
      area: 'open',
      operationId: 'readHealthcheck',
      summary: 'Check that the service is alive, as with GOV.UK Pay',
      docs: () => ({
        description: 'For clients that ask GOV.UK Pay before they send it a payment.',
        responses: { 200: json('It is alive', healthcheck) },
      }),
      handler: async () => ({ ping: { healthy: true }, deadlocks: { healthy: true } }),
    },
  ]
}

const status = (value: string) => ({ status: { type: 'string', const: value } })
const healthy = (description: string) => json(description, object('Healthy', status('ok')))
const unavailable = object('Unavailable', status('unavailable'))

const check = {
  type: 'object',
  required: ['healthy'],
  properties: { healthy: { type: 'boolean', const: true } },
}

const healthcheck = object('Healthcheck', { ping: check, deadlocks: check })
