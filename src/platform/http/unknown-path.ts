/** Requests whose path has no endpoint: their error, and their record. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noSuchEndpoint } from '../../core/errors.ts'
import { type Areas, areaOfPath, beforeHandler, decodedPath } from './areas.ts'

/** The operation that such a request is recorded as. */
export const NO_ENDPOINT = 'noSuchEndpoint'

type Refuse = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/**
 * Returns the hook that refuses such a request before its body is read. Below `/` and `/v1` a request with a good key
 * is recorded.
 */
export function createRefuseUnknownPath(app: FastifyInstance, areas: Areas): Refuse {
  const withoutVersion: RegExp[] = []
  app.addHook('onRoute', ({ url }) => {
    const path = url.startsWith('/v1/') && url.slice(3).replace(/:\w+/g, '[^/]+')
    if (path) withoutVersion.push(new RegExp(`^${path}/?$`))
  })
  const recording = areas.api.record?.({ operationId: NO_ENDPOINT })
  // In a plugin of its own, because the hooks of the server run for all requests.
  void app.register((plugin, _options, done) => {
    if (recording) plugin.addHook('onSend', recording.onSend)
    plugin.setNotFoundHandler(() => {
      throw noSuchEndpoint()
    })
    done()
  })

  function errorOf({ url }: FastifyRequest): Error {
    const path = decodedPath(url)
    if (/^\/v1\/v1(\/|$)/.test(path)) return noSuchEndpoint('twice')
    return noSuchEndpoint(withoutVersion.some(known => known.test(path)) ? 'missing' : undefined)
  }

  return (request, reply, done) => {
    const area = areaOfPath(areas, request)
    const refuse = beforeHandler(area, area.unknown ?? errorOf)
    const isOpen = area === areas.open
    if (!recording || !(isOpen || area === areas.api)) return refuse(request, reply, done)
    const hook = isOpen ? afterIdentifying(areas, refuse) : refuse
    recording.onRequest(hook)(request, reply, done)
  }
}

/** Sets the account of a good key where none is needed. Without a good key nothing changes. */
const afterIdentifying =
  ({ api }: Areas, next: Refuse): Refuse =>
  (request, reply, done) => {
    const goOn = () => {
      void reply.removeHeader('www-authenticate')
      next(request, reply, done)
    }
    const identified = request.headers.authorization && api.authenticate?.(request, reply)
    if (identified) identified.then(goOn, goOn)
    else next(request, reply, done)
  }
