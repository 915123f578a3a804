import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  ApiError,
  bodyTooLarge,
  PlainError,
  unexpectedFault,
  unreadable,
} from '../../core/errors.ts'
import { JSON_TYPE } from './body.ts'

/** Seconds to wait before the next try, as the Retry-After header of every 503. */
const RETRY_AFTER = '1'

/** The ApiError that a client gets for `error`. Sets the headers of its status, and logs faults of the service. */
export function toApiError(error: unknown, request: FastifyRequest, reply: FastifyReply): ApiError {
  const apiError = apiErrorOf(error, request)
  if (apiError.status === 503) void reply.header('retry-after', RETRY_AFTER)
  if (apiError.status === 401) void reply.header('www-authenticate', 'Bearer')
  return apiError
}

function apiErrorOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  const { statusCode = 500 } = (error ?? {}) as Partial<FastifyError> // each property may be missing
  if (statusCode === 413) return bodyTooLarge()
  if (statusCode >= 400 && statusCode < 500) return unreadable(statusCode)
  request.log.error({ err: error, route: request.routeOptions.url }, 'unexpected fault')
  return unexpectedFault()
}

/** An error that is shown as the page for its status. */
export const pageFault = (statusCode: number): Error =>
  Object.assign(new Error(`page: ${statusCode}`), { statusCode })

/** Specification, *Errors*: the JSON body of an error. */
export function errorBodyOf(error: ApiError) {
  const { at, code, status, message } = error
  return error instanceof PlainError
    ? { code: status, message }
    : { ...at, code, description: message }
}

export function sendApiError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const apiError = toApiError(error, request, reply)
  request.refusal = apiError
  // For a path that cannot be decoded Fastify runs no onSend hook, which otherwise removes the charset.
  void reply.code(apiError.status).type(JSON_TYPE).serializer(JSON.stringify)
  void reply.send(errorBodyOf(apiError))
}
