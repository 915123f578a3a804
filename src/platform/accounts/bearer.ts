import type { FastifyRequest } from 'fastify'
import { ownerOf } from '../../core/account.ts'
import type { Config } from '../../core/config.ts'
import * as errors from '../../core/errors.ts'
import { workFor } from '../../core/guests.ts'
import type { MachineTime, Ports } from '../../core/ports.ts'
import { remember } from '../../core/remember.ts'
import { inUtf8 } from '../http/fields.ts'
import { findKey, type KnownKey } from './store.ts'

/** Milliseconds for which a valid key is cached. A revoked key stops working after that. */
const CACHE_MS = 900
const MAX_CACHED = 1_000
const BEARER = 'Bearer '

/** The error for a header that names no account. No key begins with a space. */
function refusalOf(header: string | undefined): errors.ApiError {
  if (header === undefined) return errors.missingBearerKey()
  return /^Bearer [^ ]/.test(header) ? errors.unknownBearerKey() : errors.malformedBearerKey()
}

/**
 * Specification, *Authentication*: sets `request.account`, or rejects with a 401. Keys are cached, so that a busy
 * client's key is hashed once a second. Returns undefined for a cached key, because a promise would cost more than all
 * the rest. `lastPlanSql` is given where control is on, see findKey. `onRefused` is called for each 401.
 */
export function createAuthenticate(
  { database, time, config }: Ports & { config: Config },
  { lastPlanSql, onRefused }: { lastPlanSql?: string | undefined; onRefused?: () => void } = {},
) {
  const cache = new Map<string, KnownKey & { until: MachineTime }>()

  async function lookUp(key: string): Promise<KnownKey | undefined> {
    const at = time.wall() // before the query: the key may be revoked during it
    // In the queue of the account that the key had last. Unknown keys share one queue.
    const known = cache.get(key)
    const owner = known ? ownerOf(known.account) : ''
    const entry = await workFor({ owner }, () =>
      findKey(database, inUtf8(key), { fixedKeys: config.fixedKeys, at, lastPlanSql }),
    )
    if (entry) remember(cache, key, { ...entry, until: at + CACHE_MS }, MAX_CACHED)
    else cache.delete(key)
    return entry
  }

  async function admit(key: string, request: FastifyRequest): Promise<void> {
    const entry = key ? await lookUp(key) : undefined
    if (entry === undefined) {
      onRefused?.()
      throw refusalOf(request.headers.authorization)
    }
    request.account = entry.account
    request.key_id = entry.key_id
    request.lastPlan = entry.lastPlan
  }

  return (request: FastifyRequest): Promise<void> | undefined => {
    const { authorization = '' } = request.headers
    const key = authorization.startsWith(BEARER) ? authorization.slice(BEARER.length) : ''
    // With control on, another instance may have moved the account's clock.
    const entry = config.control ? undefined : cache.get(key)
    const now = time.wall()
    if (!entry || now >= entry.until || now < entry.until - CACHE_MS) return admit(key, request)
    request.account = entry.account
    request.key_id = entry.key_id
    return undefined
  }
}
