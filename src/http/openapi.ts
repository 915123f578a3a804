/** Makes one OpenAPI 3.1 document of the routes that exist and of what describe.ts says of each. */
import type { FastifyInstance } from 'fastify'
import type { Operation, Operations, Schema } from './describe.ts'

export type Route = { method: string; path: string; operationId: string }

/** Every endpoint that is registered after this call, in its order; complete once the server is ready. */
export function listRoutes(app: FastifyInstance): readonly Route[] {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    const operationId = config?.operationId
    if (operationId === undefined || typeof method !== 'string' || method === 'HEAD') return
    routes.push({ method: method.toLowerCase(), path: url.replace(/:(\w+)/g, '{$1}'), operationId })
  })
  return routes
}

type Item = Record<string, Operation & { operationId: string }>

/** The paths section, in the order of the descriptions. Throws where a route and a description miss each other. */
export function pathsOf(routes: readonly Route[], operations: Operations): Record<string, Item> {
  const undescribed = new Map(routes.map(route => [route.operationId, route]))
  const paths: Record<string, Item> = {}
  for (const [operationId, operation] of Object.entries(operations)) {
    const route = undescribed.get(operationId)
    if (!route) throw new Error(`no route has the operation ${operationId}`)
    undescribed.delete(operationId)
    const { path, method } = route
    paths[path] = { ...paths[path], [method]: { operationId, ...operation } }
  }
  for (const operationId of undescribed.keys())
    throw new Error(`nothing describes the operation ${operationId}`)
  return paths
}

type Components = { schemas: Record<string, Schema> }

/**
 * The document with each schema that has a title printed once, among its components, and referred to
 * from everywhere else. Descriptions stay where they were. Two schemas may not share a title.
 */
export function withSharedSchemas<Document extends { components: object }>(
  document: Document,
): Document & { components: Components } {
  const schemas: Record<string, Schema> = {}
  const printed = new Map<string, string>()

  function place(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(place)
    if (typeof schema !== 'object' || schema === null) return schema
    const { description, ...rest } = schema as Record<string, unknown> // a JSON object
    const { title } = rest
    if (typeof title !== 'string') return mapValues(schema, place)
    const text = JSON.stringify(rest)
    if (printed.get(title) === undefined) {
      printed.set(title, text)
      schemas[title] = mapValues(rest, place)
    } else if (printed.get(title) !== text) throw new Error(`two schemas are called ${title}`)
    return {
      $ref: `#/components/schemas/${title}`,
      ...(description !== undefined && { description }),
    }
  }

  /** Looks for schemas everywhere but in examples, whose keys may be anything. */
  function placeWithin(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(placeWithin)
    if (typeof value !== 'object' || value === null) return value
    return mapValues(value, (inner, key) =>
      key === 'schema' ? place(inner) : key === 'value' ? inner : placeWithin(inner),
    )
  }

  const placed = placeWithin(document) as Document // only schemas were replaced
  return { ...placed, components: { ...placed.components, schemas } }
}

const mapValues = (
  object: object,
  change: (value: unknown, key: string) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
