import type { FastifyInstance } from 'fastify'
import { noSuchEndpoint } from '../errors.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { assets } from './assets.ts'

/** The files of the hosted pages; their names carry a hash of what is in them. */
export function assetRoutes(app: FastifyInstance): void {
  resource(app, '/assets/:name', {
    GET: {
      operation: 'readAsset',
      handler: async (request, reply) => {
        const { headers } = request
        const file = assets.file(pathParam(request, 'name'), headers['accept-encoding'])
        if (!file) throw noSuchEndpoint()
        void reply.headers(file.headers)
        const unchanged = isOneOf(headers['if-none-match'], file.headers.etag)
        return unchanged ? reply.code(304).send() : reply.send(file.body)
      },
    },
  })
}

/** RFC 9110, section 13.1.2: weak comparison, since a proxy may have weakened our ETag. */
const isOneOf = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')
