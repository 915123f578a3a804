import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { HELD_WAITS } from '../../core/budgets.ts'
import { ApiError } from '../../core/errors.ts'
import { currentGuest } from '../../core/guests.ts'
import { createSlots } from '../../core/slots.ts'
import { createTurns } from '../../core/turns.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import { recordedIn, type ToolContext } from '../context.ts'

/** Milliseconds. */
export const LONGEST_WAIT = 10_000
/** Milliseconds after which a wait looks although nothing woke it: time passes, and another process may have written. */
const LOOK_EVERY = 250
/** The same where other instances write. */
const LOOK_EVERY_IF_SHARED = 100
/** The waits of a parent and its test accounts take a third of the time at most. */
const PAUSE_PER_LOOK = 2

export const tooManyWaits = () =>
  new ApiError(
    503,
    'C0429',
    `at most ${HELD_WAITS} requests of an account and its test accounts wait at once: try again after the seconds in Retry-After`,
  )

/** What a look found. `isNewer` looks only at what was written since: another look finds nothing if it is false. */
export type Look<Found> = { found: Found[]; isNewer?: (() => Promise<boolean>) | undefined }

export type Waits = ReturnType<typeof createWaits>

/** Equal requests that wait. `empty` is the latest look that found nothing. */
type Held = { requests: number; empty?: Look<unknown> }

export function createWaits({ database, signals, config }: ToolContext, stopped: () => boolean) {
  const every = config.database.kind === 'postgres' ? LOOK_EVERY_IF_SHARED : LOOK_EVERY
  const takeSlot = createSlots(HELD_WAITS, Infinity, 0)
  const takeTurn = createTurns(1)
  const allHeld = new Map<string, Held>()

  /** Returns a function that leaves the place. Throws if too many requests of the parent and its test accounts wait. */
  function takePlace({ name, parent }: Account): () => void {
    const leave = takeSlot(parent ?? name)
    if (leave instanceof Promise) throw tooManyWaits()
    // Only waiting is free: looks take turns.
    const goOn = currentGuest()?.rest?.()
    return () => {
      leave()
      goOn?.()
    }
  }

  /**
   * Looks until it finds something or `ms` milliseconds have passed. Equal requests look together. Returns nothing when the
   * client disconnects, the service stops or the account is reset. Throws as `takePlace` does.
   */
  async function waitFor<Found>(
    { account, url, raw: { socket } }: FastifyRequest,
    ms: number,
    look: (account: Account) => Promise<Look<Found>>,
  ): Promise<Found[]> {
    if (ms === 0) return (await look(account)).found
    const { name, parent, room } = account
    const leave = takePlace(account)
    const key = `${room} ${url}`
    const held = allHeld.get(key) ?? { requests: 0 }
    allHeld.set(key, held)
    held.requests += 1

    async function lookAt(now: Account): Promise<Found[] | undefined> {
      const { found, isNewer } = await look(now)
      if (found.length > 0) return found
      held.empty = { found, isNewer }
      return undefined
    }
    async function lookAgain(): Promise<Found[] | undefined> {
      const now = await accountOfName(database, name).catch(() => account)
      if (stopped() || now?.room !== room) return []
      if (held.empty?.isNewer && !(await held.empty.isNewer())) return undefined
      return lookAt(now)
    }

    const ending = new AbortController()
    const over = Promise.withResolvers<Found[]>()
    const end = () => {
      over.resolve([])
      ending.abort()
    }
    const timer = setTimeout(end, ms)
    socket.once('close', end)
    const polling = { every, ending: ending.signal }
    const found = signals.pollUntilFound(recordedIn(room), polling, async () => {
      if (ending.signal.aborted) return []
      if (!held.empty) return lookAt(account)
      return takeTurn(parent ?? name, key, () => inThirdOfTime(lookAgain))
    })
    try {
      return await Promise.race([found, over.promise])
    } finally {
      clearTimeout(timer)
      socket.removeListener('close', end)
      held.requests -= 1
      if (held.requests === 0) allHeld.delete(key)
      // A look that has begun keeps the place until it ends.
      void found.catch(() => undefined).finally(leave)
    }
  }

  return { waitFor, takePlace }
}

/** Runs a look, and pauses if it found nothing. One that fails finds nothing: the next may not fail. */
async function inThirdOfTime<Found>(
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const began = performance.now()
  const found = await look().catch(() => undefined)
  if (!found) await sleep(PAUSE_PER_LOOK * (performance.now() - began))
  return found
}
