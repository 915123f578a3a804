import type { Docs, Parameter } from '../http/openapi.ts'
import type { Parse } from './query.ts'

/** What an endpoint adds to /control/openapi.json. `known` are its query parameters. */
export const docsOf =
  (operationId: string, known: Record<string, Parse<unknown>> = {}) =>
  async (): Promise<Docs> => {
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
