/** Bounds the bytes of responses that are being made or wait until their client reads them. Searches take turns. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Account, ownerOf } from '../../core/account.ts'
import {
  LEAVING_BYTES,
  SEARCH_BYTES,
  SEARCHES_AT_WORK,
  SEARCHES_OF_ACCOUNT,
  SEARCHES_WAITING,
  TURN_WAIT_MS,
} from '../../core/budgets.ts'
import { overloaded, unreadable } from '../../core/errors.ts'
import { resting } from '../../core/guests.ts'
import { createShares, type Shares } from '../../core/shares.ts'
import { createSlots, type ReleaseSlot } from '../../core/slots.ts'

/** A response of at most so many bytes is not counted: on all connections together these have less than 40 MB. */
export const SMALL_BYTES = 4_096

export type Turn = {
  /** Counts more bytes of the response. Throws if the budget has no space for them or the client has disconnected. */
  add(bytes: number): void
  end(): void
}

export function createLeaving(mostBytes = LEAVING_BYTES) {
  const shares = createShares(mostBytes)
  const countUntilSent = createCount(shares)
  const takeSlot = createSlots(SEARCHES_OF_ACCOUNT, SEARCHES_AT_WORK, SEARCHES_WAITING)

  function createTurn({ account, socket }: FastifyRequest, release: ReleaseSlot): Turn {
    const owner = ownerOf(account)
    let counted = SEARCH_BYTES
    let added = 0
    shares.add(owner, counted)
    return {
      add(bytes) {
        if (socket.destroyed) throw unreadable()
        added += bytes
        const more = Math.max(0, added - counted)
        if (more > 0 && !shares.hasSpace(owner, more)) throw overloaded()
        counted += more
        shares.add(owner, more)
      },
      end() {
        shares.add(owner, -counted)
        release()
      },
    }
  }

  return {
    /** The preHandler hook of a search. Refuses with 503 and Retry-After before any work. */
    async takeTurn(request: FastifyRequest, reply: FastifyReply) {
      const owner = ownerOf(request.account)
      if (!shares.hasSpace(owner, SEARCH_BYTES)) throw overloaded()
      const slot = takeSlot(owner, TURN_WAIT_MS, reply.raw)
      const release = slot instanceof Promise ? await resting(slot) : slot
      if (!release) throw request.socket.destroyed ? unreadable() : overloaded()
      if (!shares.hasSpace(owner, SEARCH_BYTES)) {
        release()
        throw overloaded()
      }
      request.turn = createTurn(request, release)
    },

    /** Counts a response until it has left. If the budget has no space for it, returns the error to send instead. */
    leave(request: FastifyRequest, reply: FastifyReply, payload: unknown): Error | null {
      const { turn } = request
      turn?.end()
      request.turn = null
      if (!isLong(payload) || request.socket.destroyed) return null
      // All requests without a key together have the share of one account.
      const account: Account | undefined = request.account
      const owner = account ? ownerOf(account) : ''
      const release = countUntilSent(owner, payload, turn !== null)
      if (!release) return overloaded()
      reply.raw.once('close', release)
      return null
    },
  }
}

const isLong = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) &&
  Buffer.byteLength(payload) > SMALL_BYTES

function createCount({ add, hasSpace }: Shares) {
  /** Waiting responses with the same Buffer, such as that of a document, count once: they share its memory. */
  const shared = new Map<Buffer, { holders: number; release: () => void }>()

  /** Counts the payload. Returns the function that releases it; undefined if the budget has no space for it. */
  return (owner: string, payload: string | Buffer, isAdmitted: boolean) => {
    const same = typeof payload === 'string' ? undefined : shared.get(payload)
    if (same) {
      same.holders += 1
      return same.release
    }
    const bytes = Buffer.byteLength(payload)
    if (!isAdmitted && !hasSpace(owner, bytes)) return undefined
    add(owner, bytes)
    const own = {
      holders: 1,
      release() {
        own.holders -= 1
        if (own.holders > 0) return
        add(owner, -bytes)
        if (typeof payload !== 'string') shared.delete(payload)
      },
    }
    if (typeof payload !== 'string') shared.set(payload, own)
    return own.release
  }
}
