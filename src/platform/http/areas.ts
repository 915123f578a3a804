import type { FastifyReply, FastifyRequest } from 'fastify'
import { noSuchEndpoint } from '../../core/errors.ts'
import { decodeAscii } from './addresses.ts'
import type { Accepts } from './body.ts'

/**
 * The kinds of endpoint. `api` needs a key. `token` is the one endpoint under /v1 that is authorised by its body.
 * `pages` are the hosted pages. `control` is for tests and for the command line, with the same key. `console` are pages
 * for people who have signed in with the key, and `sign-in` the pages on which they sign in. `open` are documents
 * and files. `health` is always answered.
 */
export type AreaName =
  | 'api'
  | 'token'
  | 'pages'
  | 'control'
  | 'console'
  | 'sign-in'
  | 'open'
  | 'health'

/** The common parts of the endpoints of one kind. src/app/app.ts has the list. */
export type Area = {
  /** An unknown path below this prefix gets the errors of this area. */
  prefix: string
  /** Sets `request.account`. undefined if the key was accepted at once; a promise rejects with a 401 for a bad key. */
  authenticate?: (request: FastifyRequest) => Promise<void> | undefined
  setHeaders(request: FastifyRequest, reply: FastifyReply): void
  /** Sends any error, whatever was thrown. */
  sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void
  /** The recording hooks for one of its endpoints, if its requests are recorded. */
  record?: (recorded: Recorded) => RecordingHooks | undefined
  /** The hooks that apply plans to one of its endpoints, in an area that has plans. */
  plan?: ((operation: string) => PlanHooks) | undefined
  /** The error for an unknown path, if it is not the usual one. */
  unknown?: (() => Error) | undefined
  /** The error for a request with a good key, before its body is read. By default only for a wrong media type. */
  refuse?: (request: FastifyRequest, accepts?: Accepts) => Error | undefined
  /** The error for an unknown path or a wrong method, if it is not always `usual`. */
  lost?: (request: FastifyRequest, usual: Error) => Error
  /** Its requests do not count as in progress. Others are refused with 503 beyond REQUESTS_IN_PROGRESS. */
  isUncounted?: true
}

export type Areas = Readonly<Record<AreaName, Area>>

/** A hook before the handler. */
export type Hook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void

type OnSend = (
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
) => void

export type Recorded = { operationId: string; secretBody?: true | undefined }

export type RecordingHooks = {
  /** Wraps the endpoint's own hook, because one hook is faster than two. */
  onRequest(hook: Hook): Hook
  onSend: OnSend
}

export type PlanHooks = {
  preHandler: Hook
  /** Before the response is recorded. */
  onSend: OnSend
  afterRecord: OnSend
}

/** The steps before a handler, in this order. The first step that fails decides the response. */
export function beforeHandler(
  area: Area,
  refuse: (request: FastifyRequest, reply: FastifyReply) => Error | undefined,
): Hook {
  const refusal = (request: FastifyRequest, reply: FastifyReply) =>
    hasEmptySegment(request.url)
      ? lostIn(area, request, noSuchEndpoint('empty'))
      : refuse(request, reply)
  return (request, reply, done) => {
    area.setHeaders(request, reply)
    const authenticated = area.authenticate?.(request)
    if (authenticated) authenticated.then(() => done(refusal(request, reply)), done)
    else done(refusal(request, reply))
  }
}

/** The error of a request that reaches no endpoint. */
export const lostIn = ({ lost }: Area, request: FastifyRequest, usual: Error): Error =>
  lost ? lost(request, usual) : usual

/** The area of a path: the first whose prefix it is below. */
export function areaOfPath(areas: Areas, { url }: FastifyRequest): Area {
  return Object.values(areas).find(({ prefix }) => isBelow(prefix, url)) ?? areas.open
}

/** True for the prefix itself and every path below it, also percent-encoded or as a whole URL. */
export function isBelow(prefix: string, url: string): boolean {
  if (url.startsWith('/') && !url.includes('%') && !url.startsWith(prefix)) return false
  const decoded = decodedPath(url)
  return decoded === prefix || decoded.startsWith(`${prefix}/`)
}

/** The path of a request target, which may be a whole URL, without percent-encoding of ASCII. */
export function decodedPath(url: string): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return decodeAscii(path)
}

/** True if the path has `//`. The router would accept an empty parameter there, which no endpoint has. */
export const hasEmptySegment = (url: string): boolean =>
  url.includes('//') && /^[^?#]*\/\//.test(url.replace(/^https?:\/\//i, ''))
