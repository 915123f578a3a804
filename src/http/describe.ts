import type {} from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import { errorBody } from './schema.ts'

const bearer = [{ bearer: [] }]

const errorsOf = (errors: Record<number, string>) =>
  Object.fromEntries(
    Object.entries(errors).map(([status, description]) => [
      status,
      { description, content: { 'application/json': { schema: errorBody } } },
    ]),
  )

/** A successful answer with a JSON body. */
export const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema } },
})

export const noContent = { description: 'Done; no body', type: 'null' }

/**
 * How /openapi.json describes an endpoint; nothing here changes what the endpoint does.
 * `errors` says, for each status, when it comes and with which codes.
 */
export function endpoint(
  tag: string,
  summary: string,
  parts: FastifySchema & { errors?: Record<number, string>; open?: boolean },
): FastifySchema {
  const { errors = {}, open = false, response, ...rest } = parts
  const always: Record<number, string> = {
    ...(!open && { 401: 'The API key is missing or not valid: P0910' }),
    413: 'The body is over 65,536 bytes: P0913',
    500: 'Unexpected fault: P0999',
  }
  return {
    ...rest,
    summary,
    tags: [tag],
    ...(!open && { security: bearer }),
    response: { ...(response as object), ...errorsOf({ ...always, ...errors }) },
  }
}
