/** The description of the whole API, in OpenAPI 3.1: what every slice says of its endpoints, put together. */
import { operations as agreements } from '../agreements/describe.ts'
import { operations as disputes } from '../disputes/describe.ts'
import { operations as pages } from '../hosted/describe.ts'
import { exampleAddresses } from '../http/addresses.ts'
import { commonAnswers, type Operations } from '../http/describe.ts'
import { pathsOf, type Route, withSharedSchemas } from '../http/openapi.ts'
import { operations as payments } from '../payments/describe.ts'
import { payments as examplePayments } from '../payments/examples.ts'
import { payment } from '../payments/response.ts'
import { operations as refunds } from '../refunds/describe.ts'
import { version } from '../version.ts'
import { messageWith, operationsWith } from '../webhooks/describe.ts'
import { operations as about } from './describe.ts'
import { errorTable } from './error-table.ts'
import { introduction, tags } from './introduction.ts'

const resource = { schema: payment, example: examplePayments.paid }

/** Addresses in it are those of `exampleAddresses`: whoever sends it puts the reader's in their place. */
export function describeService(routes: readonly Route[]) {
  const operations = {
    ...inChapter('Payments', payments),
    ...inChapter('Refunds', refunds),
    ...inChapter('Agreements', agreements),
    ...inChapter('Disputes', disputes),
    ...inChapter('Webhooks', operationsWith(resource)),
    ...inChapter('Hosted pages', pages),
    ...inChapter('About this service', about),
  }
  const paths = pathsOf(routes, operations)
  const responses = commonAnswers()
  return withSharedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Farthing',
      summary: 'A payment service that moves no money',
      version,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: exampleAddresses.api, description: 'This service' }],
    tags: [
      ...tags,
      { name: 'Errors', description: errorTable(Object.values(operations), responses) },
    ],
    paths: withPageServer(paths),
    webhooks: { message: messageWith(resource) },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, as farthing keys create prints it',
        },
      },
      responses,
    },
  })
}

const inChapter = (tag: string, operations: Operations): Operations =>
  Object.fromEntries(
    Object.entries(operations).map(([id, operation]) => [id, { tags: [tag], ...operation }]),
  )

export type Document = ReturnType<typeof describeService>
type Paths = ReturnType<typeof pathsOf>

/** A browser may see the pages at another address than clients see the API. */
function withPageServer(paths: Paths) {
  const servers = [{ url: exampleAddresses.pages, description: 'The hosted pages' }]
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      path.startsWith('/secure') ? { servers, ...item } : item,
    ]),
  )
}
