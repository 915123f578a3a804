import type { Context } from '../context.ts'
import { type Addresses, addressesOf, exampleAddresses, pathOf } from '../http/addresses.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { html, json, type Schema } from '../http/openapi.ts'
import { remember } from '../remember.ts'
import { onFirstUse } from '../web/assets.ts'
import { policies, setPageHeaders } from '../web/headers.ts'
import type { Chapters } from './openapi.ts'

/** A client chooses the Host, so there must be a limit. Most services have one or two addresses. */
const MAX_DESCRIBED = 8

/**
 * The description of the API, the page that shows it, and the front page. They are loaded and made when somebody
 * first asks for them, and then kept. `chapters` holds every endpoint once the service is put together.
 */
export function docsEndpoints(
  { config }: Context,
  chapters: () => Chapters,
  message: () => Promise<object>,
): Endpoint[] {
  const basePath = pathOf(config.baseUrl)
  const description = onFirstUse(async () => {
    const { openapi } = await import('./openapi.ts')
    return JSON.stringify(await openapi(chapters(), await message()))
  })
  const described = new Map<string, Buffer>()
  /** One Buffer for each pair of addresses: responses that clients have not read yet share it. */
  async function descriptionFor(addresses: Addresses): Promise<Buffer> {
    const text = await description()
    const key = `${addresses.api} ${addresses.pages}`
    const bytes = described.get(key) ?? Buffer.from(withAddresses(text, addresses))
    remember(described, key, bytes, MAX_DESCRIBED)
    return bytes
  }
  const docs = onFirstUse(async () => {
    const { docsPage } = await import('./pages.ts')
    return Buffer.from(docsPage({ basePath }))
  })

  return [
    {
      method: 'GET',
      path: '/openapi.json',
      area: 'open',
      operationId: 'readDescription',
      summary: 'Read this document',
      docs: () => ({
        responses: {
          200: {
            description: 'The description of the API, in OpenAPI 3.1',
            content: { 'application/json': { schema: openapiSchema } },
          },
        },
      }),
      handler: async (request, reply) => {
        void reply.type('application/json')
        return descriptionFor(addressesOf(request, config))
      },
    },
    {
      method: 'GET',
      path: '/docs',
      area: 'open',
      operationId: 'readDocs',
      summary: 'Show this document as a page',
      docs: () => ({ responses: { 200: html('The page') } }),
      handler: async (request, reply) => {
        setPageHeaders(reply, addressesOf(request, config), policies.viewer)
        void reply.type('text/html; charset=utf-8')
        return docs()
      },
    },
    {
      method: 'GET',
      path: '/',
      area: 'open',
      operationId: 'readFrontPage',
      summary: 'Show what this service is',
      docs: () => ({ responses: { 200: html('The page') } }),
      handler: async (request, reply) => {
        const addresses = addressesOf(request, config)
        const { frontPage } = await import('./pages.ts')
        setPageHeaders(reply, addresses)
        void reply.type('text/html; charset=utf-8')
        return frontPage({ basePath }, addresses.api, { hasConsole: config.console })
      },
    },
  ]
}

/** The description of the control API. It needs no key, so that tools can read it. */
export function controlDescription(
  { config }: Context,
  endpoints: () => readonly Endpoint[],
): Endpoint {
  const description = onFirstUse(async () => {
    const { controlOpenapi } = await import('./openapi.ts')
    return JSON.stringify(await controlOpenapi(endpoints()))
  })
  return {
    method: 'GET',
    path: '/control/openapi.json',
    area: 'open',
    operationId: 'readControlDescription',
    summary: 'Read this document',
    docs: () => ({
      responses: {
        200: json('The description of the control API, in OpenAPI 3.1', openapiSchema, {
          'Its beginning': { openapi: '3.1.0', info: {}, paths: {} },
        }),
      },
    }),
    handler: async (request, reply) => {
      void reply.type('application/json')
      return withAddresses(await description(), addressesOf(request, config))
    },
  }
}

const openapiSchema: Schema = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { type: 'string' },
    info: { type: 'object' },
    paths: { type: 'object' },
  },
  additionalProperties: true,
}

/** Replaces the addresses in the examples by those that the reader uses. */
const withAddresses = (text: string, { api, pages }: Addresses): string =>
  text.replaceAll(exampleAddresses.pages, () => pages).replaceAll(exampleAddresses.api, () => api)
