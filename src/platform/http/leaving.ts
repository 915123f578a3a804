/**
 * Bounds the memory of responses: counts the bytes of those that are being made or wait until their client reads them,
 * and lets searches take turns.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import {
  LEAVING_BYTES,
  SEARCH_BYTES,
  SEARCH_WAIT_MS,
  SEARCHES_AT_WORK,
  SEARCHES_WAITING,
} from '../../core/budgets.ts'
import { overloaded, unreadable } from '../../core/errors.ts'
import { createShares, type Shares } from '../../core/shares.ts'

/** Bytes of a response that is not counted: all connections together have less than 40 MB of them. */
const SMALL_BYTES = 4_096

export type Turn = {
  /** Tells that so many bytes of the response are made. Throws if there is no room, or nobody is there to read them. */
  add(bytes: number): void
  end(): void
}

export type Leaving = {
  /** The preHandler hook of a search. Refuses with 503 and Retry-After before any work. */
  takeTurn(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void
  /** Counts a response until it has left. Returns the error to send in its place if there is no room for it. */
  leave(request: FastifyRequest, reply: FastifyReply, payload: unknown): Error | null
}

const USUAL = {
  mostBytes: LEAVING_BYTES,
  mostAtWork: SEARCHES_AT_WORK,
  mostWaiting: SEARCHES_WAITING,
  waitMs: SEARCH_WAIT_MS,
}

export function createLeaving(budget = USUAL): Leaving {
  const shares = createShares(budget.mostBytes)
  const hold = createHeld(shares)
  const queue = createQueue(budget)
  let atWork = 0

  function createTurn({ account: { room }, socket }: FastifyRequest): Turn {
    let counted = SEARCH_BYTES
    let made = 0
    atWork += 1
    shares.add(room, counted)
    return {
      add(bytes) {
        if (socket.destroyed) throw unreadable()
        made += bytes
        const more = Math.max(0, made - counted)
        if (more > 0 && !shares.hasRoom(room, more)) throw overloaded()
        counted += more
        shares.add(room, more)
      },
      end() {
        shares.add(room, -counted)
        atWork -= 1
        while (atWork < budget.mostAtWork && queue.next());
      },
    }
  }

  return {
    takeTurn(request, reply, done) {
      const account = request.account.room
      const begin = () => {
        if (!shares.hasRoom(account, SEARCH_BYTES)) return done(overloaded())
        request.turn = createTurn(request)
        done()
      }
      if (atWork < budget.mostAtWork || !shares.hasRoom(account, SEARCH_BYTES)) begin()
      else queue.wait(reply, { account, begin, refuse: done })
    },

    leave(request, reply, payload) {
      const { turn } = request
      turn?.end()
      request.turn = null
      if (!isLong(payload) || request.socket.destroyed) return null
      // Endpoints without a key share what one account may have.
      const release = hold(request.account?.room ?? '', payload, turn !== null)
      if (!release) return overloaded()
      reply.raw.once('close', release)
      return null
    },
  }
}

type Waiting = { account: string; begin: () => void; refuse: (error: Error) => void }

function createQueue({ mostWaiting, waitMs }: typeof USUAL) {
  const queue = new Set<Waiting>()

  /** In a full queue the account that waits with the most searches gives way to one that waits with fewer. */
  function makePlace(account: string): boolean {
    if (queue.size < mostWaiting) return true
    const accounts = Map.groupBy(queue, waiting => waiting.account)
    const most = Math.max(...accounts.values().map(({ length }) => length))
    if (most <= (accounts.get(account)?.length ?? 0) + 1) return false
    const longest = accounts.values().find(({ length }) => length === most)
    longest?.at(-1)?.refuse(overloaded())
    return true
  }

  return {
    /** Lets the one begin that has waited longest. Returns false if there is none. */
    next(): boolean {
      const [first] = queue
      first?.begin()
      return first !== undefined
    },
    /** Calls `begin` when it is the search's turn. Calls `refuse` when it has waited too long, or may not wait. */
    wait(reply: FastifyReply, { account, begin, refuse }: Waiting): void {
      if (!makePlace(account)) {
        refuse(overloaded())
        return
      }
      const end = () => {
        queue.delete(waiting)
        clearTimeout(late)
        reply.raw.off('close', leave)
      }
      const waiting: Waiting = {
        account,
        begin() {
          end()
          begin()
        },
        refuse(error) {
          end()
          refuse(error)
        },
      }
      const leave = () => waiting.refuse(unreadable())
      const late = setTimeout(() => waiting.refuse(overloaded()), waitMs)
      reply.raw.once('close', leave)
      queue.add(waiting)
    },
  }
}

const isLong = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > SMALL_BYTES

function createHeld({ add, hasRoom }: Shares) {
  /** Those that wait with the same Buffer, such as that of a document, take its memory once. */
  const shared = new Map<Buffer, { holders: number; release: () => void }>()

  /** Counts the payload. Returns the function that releases it; undefined if there is no room for it. */
  return (
    account: string,
    payload: string | Buffer,
    isAdmitted: boolean,
  ): (() => void) | undefined => {
    const held = typeof payload === 'string' ? undefined : shared.get(payload)
    if (held) {
      held.holders += 1
      return held.release
    }
    const bytes = Buffer.byteLength(payload)
    if (!isAdmitted && !hasRoom(account, bytes)) return undefined
    add(account, bytes)
    const own = {
      holders: 1,
      release() {
        own.holders -= 1
        if (own.holders > 0) return
        add(account, -bytes)
        if (typeof payload !== 'string') shared.delete(payload)
      },
    }
    if (typeof payload !== 'string') shared.set(payload, own)
    return own.release
  }
}
