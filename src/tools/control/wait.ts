import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import type { Database } from '../../core/ports.ts'
import { createSignal, type Signals } from '../../core/signal.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import { cursorAt, type FollowedPage } from '../../platform/database/follow.ts'
import { tooMany } from './errors.ts'

/** The signal after each write of this instance, and after each request of a test account. */
export const WRITTEN = 'written'

/** Milliseconds. */
export const LONGEST_WAIT = 10_000
/** Milliseconds after which the database is queried again, because another instance may have written. */
const POLL_INTERVAL = 100
/** Milliseconds between two queries while this instance writes. */
const BETWEEN_QUERIES = 5
/** How many requests of an account may wait at once. */
const MOST_WAITS = 50

export const tooManyWaits = () =>
  tooMany(`at most ${MOST_WAITS} requests of an account wait at once`)

/**
 * Repeats a query until it finds something or `wait` milliseconds have passed. Returns nothing when the client
 * disconnects, the service stops or the account is reset. Throws if too many requests of the account wait.
 */
export type WaitFor = <Found>(
  request: FastifyRequest,
  wait: number,
  look: (account: Account) => Promise<Found[]>,
) => Promise<Found[]>

type WaitPorts = {
  database: Database
  signals: Signals
  stopped: () => boolean
}

export function createWaitFor({ database, signals, stopped }: WaitPorts): WaitFor {
  const waits = new Map<string, number>()

  async function pollForAccount<Found>(
    { raw, account }: FastifyRequest,
    wait: number,
    look: (account: Account) => Promise<Found[]>,
  ): Promise<Found[]> {
    const signal = createSignal()
    let over = false
    const end = setTimeout(() => {
      over = true
      signal.set()
    }, wait)
    raw.socket.once('close', signal.set)
    const waiting = { every: POLL_INTERVAL, signal }
    try {
      return await signals.pollUntilFound(WRITTEN, waiting, async () => {
        const now = await accountOfName(database, account.name)
        if (now?.room !== account.room) return []
        const found = await look(now)
        if (found.length > 0 || over || raw.socket.destroyed || stopped()) return found
        await sleep(BETWEEN_QUERIES)
        return undefined
      })
    } finally {
      clearTimeout(end)
      raw.socket.removeListener('close', signal.set)
    }
  }

  return async (request, wait, look) => {
    if (wait === 0) return look(request.account)
    const { room } = request.account
    const others = waits.get(room) ?? 0
    if (others >= MOST_WAITS) throw tooManyWaits()
    waits.set(room, others + 1)
    try {
      return await pollForAccount(request, wait, look)
    } finally {
      const left = (waits.get(room) ?? 1) - 1
      if (left === 0) waits.delete(room)
      else waits.set(room, left)
    }
  }
}

/** Waits for a page of a list, and presents it. `since` is where the list begins without `after`, in milliseconds. */
export async function followed<Row, Item>(
  waitFor: WaitFor,
  request: FastifyRequest,
  { ms, after, since = 0 }: { ms: number; after?: string | undefined; since?: number | undefined },
  present: (row: Row) => Item,
  look: (account: Account) => Promise<FollowedPage<Row>>,
): Promise<{ results: Item[]; next: string; previous: string | null }> {
  const [page] = await waitFor(request, ms, async account => {
    const found = await look(account)
    return found.rows.length > 0 ? [found] : []
  })
  const next = page?.next ?? after ?? cursorAt(since)
  return { results: (page?.rows ?? []).map(present), next, previous: page?.previous ?? null }
}
