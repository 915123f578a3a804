import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

declare module 'node:http' {
  interface IncomingMessage {
    /** What the client wrote, where a request goes the way of another method. */
    givenMethod?: string
  }
}

/** The methods that endpoints have. */
const USED = ['GET', 'HEAD', 'POST', 'DELETE'] as const
/** No endpoint has it. */
const UNUSED = 'PUT'

export const METHODS = [...USED, UNUSED] as const

/**
 * Lets a request of any method that HTTP has reach the routes, so that a wrong one is told which are right.
 * All that are never right go the way of one: the router keeps a tree for each, and thirty more for every
 * path would take an eighth of the start and 4 MB. Answers the URL, as it came.
 */
export function foldMethod(raw: IncomingMessage): string {
  if (!USED.some(method => method === raw.method)) {
    raw.givenMethod = raw.method ?? ''
    raw.method = UNUSED
  }
  return raw.url ?? ''
}

/** The method that the client wrote. */
export const methodOf = ({ raw, method }: FastifyRequest): string => raw.givenMethod ?? method
