import type { Endpoint } from '../http/endpoint.ts'
import type { Docs, Parameter } from '../http/openapi.ts'
import type { Parse } from './query.ts'

/** An endpoint below /control, without what they have in common. `query` are its query parameters. */
export type ControlEndpoint = Omit<Endpoint, 'area' | 'docs'> & {
  query?: Record<string, Parse<unknown>>
}

/** Adds the area, and the description of descriptions.ts. */
export const endpointOf = ({ query, ...endpoint }: ControlEndpoint): Endpoint => ({
  ...endpoint,
  area: 'control',
  docs: () => docsOf(endpoint.operationId, query),
})

async function docsOf(
  operationId: string,
  known: Record<string, Parse<unknown>> = {},
): Promise<Docs> {
  const { descriptions } = await import('./descriptions.ts')
  const { query = {}, ...docs } = descriptions[operationId] ?? { responses: {} }
  const inQuery = Object.entries(known).map(
    ([name, { schema }]): Parameter => ({
      ...{ name, in: 'query', schema },
      description: query[name] ?? common[name] ?? '',
    }),
  )
  const parameters = [...(docs.parameters ?? []), ...inQuery]
  return { ...docs, ...(parameters.length > 0 && { parameters }) }
}

const common: Record<string, string> = {
  payment_id: 'Of this payment',
  reference: 'Whose payment has this reference, in any case',
  after: 'What comes after `next` of an earlier response',
  limit: 'How many results at most',
  wait: 'Milliseconds to wait for a first result, if there is none',
}
