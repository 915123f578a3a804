import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { type Addresses, addressesOf, exampleAddresses, pathOf } from '../http/addresses.ts'
import { resource } from '../http/endpoint.ts'
import type { Route } from '../http/openapi.ts'
import { onFirstUse } from '../web/assets.ts'
import { setPageHeaders } from '../web/headers.ts'
import { html } from '../web/html.ts'

/**
 * What the service says of itself: the description of its API, a page of it, and a front page. All of it
 * is loaded and made when somebody asks for the first time, and then kept.
 */
export function aboutRoutes(
  app: FastifyInstance,
  { config }: Farthing,
  routes: readonly Route[],
): void {
  const basePath = pathOf(config.baseUrl)
  const description = onFirstUse(async () => {
    const { describeService } = await import('./document.ts')
    return describeService(routes)
  })
  const descriptionText = onFirstUse(async () => JSON.stringify(await description()))
  const docs = onFirstUse(async () => {
    const { docsPage } = await import('./docs-page.ts')
    return docsPage({ basePath }, await description())
  })

  resource(app, '/openapi.json', {
    GET: {
      operation: 'readDescription',
      handler: async (request, reply) => {
        void reply.type('application/json; charset=utf-8')
        return withAddresses(await descriptionText(), addressesOf(request, config))
      },
    },
  })

  resource(app, '/docs', {
    GET: {
      operation: 'readDocs',
      handler: async (request, reply) => {
        const addresses = addressesOf(request, config)
        setPageHeaders(reply, addresses)
        void reply.type('text/html; charset=utf-8')
        return withAddresses(await docs(), escaped(addresses))
      },
    },
  })

  resource(app, '/', {
    GET: {
      operation: 'readFrontPage',
      handler: async (request, reply) => {
        const addresses = addressesOf(request, config)
        const { frontPage } = await import('./front-page.ts')
        setPageHeaders(reply, addresses)
        void reply.type('text/html; charset=utf-8')
        return frontPage({ basePath }, addresses.api)
      },
    },
  })
}

/** Puts the addresses that the reader uses in the place of those in the examples. */
const withAddresses = (text: string, { api, pages }: Addresses): string =>
  text.replaceAll(exampleAddresses.pages, () => pages).replaceAll(exampleAddresses.api, () => api)

/** Addresses as they may stand in HTML. */
const escaped = ({ api, pages }: Addresses): Addresses => ({
  api: html`${api}`.toString(),
  pages: html`${pages}`.toString(),
})
