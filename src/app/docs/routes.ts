import { DEFAULT_ACCOUNT } from '../../core/account.ts'
import type { Config } from '../../core/config.ts'
import { oneAtATime, onFirstUse, remember } from '../../core/remember.ts'
import { ownTurn } from '../../core/turns.ts'
import type { Context } from '../../pay/context.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import {
  type Addresses,
  addressesOf,
  exampleAddresses,
  pathOf,
} from '../../platform/http/addresses.ts'
import { JSON_TYPE } from '../../platform/http/body.ts'
import { type Endpoint, inArea } from '../../platform/http/endpoint.ts'
import { html, json, type Schema } from '../../platform/http/openapi.ts'
import { policies, sendHtml, setPageHeaders } from '../../platform/web/headers.ts'
import type { Chapters } from './openapi.ts'

const open = inArea('open')

/** The description of the API, its page and the front page. Each is made at its first request, and then kept. */
export function docsEndpoints(
  { config, database }: Pick<Context, 'config' | 'database'>,
  chapters: () => Chapters,
): Endpoint[] {
  const basePath = pathOf(config.baseUrl)
  const docs = onFirstUse(async () => {
    const { docsPage } = await import('./pages.ts')
    return Buffer.from(
      docsPage({ basePath }, { hasConsole: config.console, behaviour: config.behaviour }),
    )
  })

  /** A reset may have changed it since the start. Without the database's answer it is the configured behaviour. */
  const defaultBehaviour = oneAtATime(async () => {
    const account = await accountOfName(database, DEFAULT_ACCOUNT).catch(() => undefined)
    return account?.behaviour ?? config.behaviour
  })

  return [
    documentEndpoint(config, 'the API', ['readDescription', '/openapi.json'], async () => {
      const { openapi } = await import('./openapi.ts')
      await ownTurn()
      return openapi(chapters(), config.behaviour)
    }),
    {
      ...open('GET', '/docs', 'readDocs', 'Show this document as a page'),
      docs: () => ({ responses: { 200: html('The page') } }),
      handler: async (request, reply) => {
        setPageHeaders(reply, addressesOf(request, config), policies.viewer)
        return sendHtml(reply, 200, await docs())
      },
    },
    {
      ...open('GET', '/', 'readFrontPage', 'Show what this service is'),
      docs: () => ({ responses: { 200: html('The page') } }),
      handler: async (request, reply) => {
        const addresses = addressesOf(request, config)
        const { frontPage } = await import('./pages.ts')
        setPageHeaders(reply, addresses)
        const behaviour = await defaultBehaviour()
        const service = { hasConsole: config.console, behaviour }
        return sendHtml(reply, 200, frontPage({ basePath }, addresses.api, service))
      },
    },
  ]
}

export const controlDescription = ({ config }: Context, endpoints: () => readonly Endpoint[]) =>
  documentEndpoint(
    config,
    'the control API',
    ['readControlDescription', '/control/openapi.json'],
    async () => {
      const { controlOpenapi } = await import('./openapi.ts')
      return controlOpenapi(endpoints())
    },
  )

/** The most addresses with a kept document: clients choose the Host, and most services have one or two addresses. */
const MAX_DESCRIBED = 8

/** The document that `make` returns, with the addresses of the reader. It needs no key, so that tools can read it. */
function documentEndpoint(
  config: Config,
  subject: string,
  [operationId, path]: [operationId: string, path: string],
  make: () => Promise<object>,
): Endpoint {
  const description = onFirstUse(async () => {
    const document = await make()
    await ownTurn()
    return inPieces(JSON.stringify(document))
  })
  /** One Buffer for each pair of addresses: responses that clients have not read yet share it. */
  const described = new Map<string, Buffer>()
  return {
    ...open('GET', path, operationId, 'Read this document'),
    docs: () => ({
      responses: { 200: json(`The description of ${subject}, in OpenAPI 3.1`, openapiSchema) },
    }),
    handler: async (request, reply) => {
      const { api, pages } = addressesOf(request, config)
      const key = `${api} ${pages}`
      const pieces = await description()
      const addresses = { api: Buffer.from(api), pages: Buffer.from(pages) }
      const bytes =
        described.get(key) ??
        Buffer.concat(pieces.map(piece => (Buffer.isBuffer(piece) ? piece : addresses[piece])))
      remember(described, key, bytes, MAX_DESCRIBED)
      void reply.type(JSON_TYPE)
      return bytes
    },
  }
}

/** The bytes of a document, with a mark for each address: replacing text would take a millisecond for each reader. */
function inPieces(text: string): (Buffer | keyof Addresses)[] {
  const [first = [], ...others] = text
    .split(exampleAddresses.pages)
    .map(part => part.split(exampleAddresses.api).flatMap(after('api')).slice(1))
  return [...first, ...others.flatMap(pieces => ['pages' as const, ...pieces])]
}

const after = (name: keyof Addresses) => (bytes: string) => [name, Buffer.from(bytes)]

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
