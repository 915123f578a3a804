import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Farthing } from '../context.ts'
import { badBearerKey } from '../errors.ts'
import { accountOfKey } from './store.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account of the bearer key; empty on routes that need none. */
    account: string
  }
}

/** A key that was found good is not looked up again for this long, in milliseconds; a revoked one stops after it. */
const REMEMBER_MS = 900
const MOST_REMEMBERED = 1_000
const BEARER = 'Bearer '

/** Node reads the bytes of a header as Latin-1; what clients write is UTF-8. */
const inUtf8 = (header: string): string => Buffer.from(header, 'latin1').toString('utf8')

/**
 * SPEC *Authentication*: sets `request.account`, or throws the same 401 whatever is wrong.
 * Keys that were just checked are remembered, so that a busy client's key is hashed once a second.
 */
export function createBearer({ database, clock, config }: Farthing) {
  const remembered = new Map<string, { account: string; until: number }>()

  function recall(key: string): string | undefined {
    const now = clock()
    const known = remembered.get(key)
    return known && now < known.until && now >= known.until - REMEMBER_MS
      ? known.account
      : undefined
  }

  async function lookUp(key: string): Promise<string | undefined> {
    const asked = clock() // not when the answer came: the key may have been revoked meanwhile
    const account = await accountOfKey(database, inUtf8(key), config.apiKey)
    remembered.delete(key)
    if (account === undefined) return undefined
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(key, { account, until: asked + REMEMBER_MS })
    return account
  }

  async function admit(key: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const account = key ? await lookUp(key) : undefined
    if (account === undefined) {
      void reply.header('www-authenticate', 'Bearer')
      throw badBearerKey()
    }
    request.account = account
  }

  /** undefined when nothing has to be waited for: a promise for each request would cost more than the rest of this. */
  function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { authorization = '' } = request.headers
    const key = authorization.startsWith(BEARER) ? authorization.slice(BEARER.length) : ''
    const known = recall(key)
    if (known === undefined) return admit(key, request, reply)
    request.account = known
    return undefined
  }

  return {
    authenticate,
    onRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const admitted = authenticate(request, reply)
      if (admitted) admitted.then(() => done(), done)
      else done()
    },
  }
}
