import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, bodyTooLarge, unexpectedFault, unreadable } from '../errors.ts'

/** Every error leaves as an ApiError: Fastify's own and unexpected faults too. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  const { statusCode = 500 } = (error ?? {}) as Partial<FastifyError> // each property may be missing
  if (statusCode === 413) return bodyTooLarge()
  if (statusCode >= 400 && statusCode < 500) return unreadable(statusCode)
  request.log.error({ err: error, route: request.routeOptions.url }, 'unexpected fault')
  return unexpectedFault()
}

/** SPEC *Errors*: the JSON body of an error. */
export const errorBodyOf = ({ at, code, message }: ApiError) => ({
  ...at,
  code,
  description: message,
})

/** Answers with the status and body of the error, whatever was thrown. */
export function sendApiError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const apiError = toApiError(error, request)
  void reply.code(apiError.status).send(errorBodyOf(apiError))
}
