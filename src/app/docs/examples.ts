/** The examples of both documents. `npm run examples` records them. */
import type { Behaviour } from '../../core/account.ts'
import { ROOT, readShipped } from '../../core/files.ts'
import { mapValues } from '../../core/map-values.ts'
import type { Docs, Parameter, RequestBody, Response } from '../../platform/http/openapi.ts'

type Described = Docs & { operationId: string }

/** Bodies by their summaries. */
type Bodies = Record<string, unknown>

/** Of one operation: the parameters of its path, bodies of requests, and bodies of responses by status. */
type Examples = {
  path?: Record<string, string>
  request?: Bodies
  responses?: Record<string, Bodies>
}

let recorded: Partial<Record<Behaviour, Record<string, Examples>>> | undefined

/** Reads the file when it is needed: a module whose loading failed once never loads again. */
function examplesOf(operationId: string, behaviour: Behaviour): Examples {
  recorded ??= JSON.parse(
    readShipped(new URL('app/docs/examples/recorded.json', ROOT)).toString(),
  ) as typeof recorded & object // npm run examples wrote it
  return recorded[behaviour]?.[operationId] ?? {}
}

export function withExamples<Operation extends Described>(
  operation: Operation,
  behaviour: Behaviour,
): Operation {
  const { path = {}, request, responses = {} } = examplesOf(operation.operationId, behaviour)
  const { parameters, requestBody } = operation
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map(field => withValue(field, path[field.name])) }),
    ...(requestBody && { requestBody: withBodies(requestBody, request) }),
    responses: mapValues(operation.responses, (response, status) =>
      withBodies(response, responses[status]),
    ),
  }
}

const withValue = (parameter: Parameter, value: string | undefined): Parameter =>
  parameter.in === 'path' && value !== undefined
    ? { ...parameter, schema: { ...parameter.schema, examples: [value] } }
    : parameter

function withBodies<Holder extends RequestBody | Response>(
  holder: Holder,
  bodies?: Bodies,
): Holder {
  if (!bodies || !('content' in holder)) return holder
  const examples = Object.fromEntries(
    Object.entries(bodies).map(([summary, value]) => [
      summary.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
      { summary, value },
    ]),
  )
  return { ...holder, content: mapValues(holder.content ?? {}, media => ({ ...media, examples })) }
}
