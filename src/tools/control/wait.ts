import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { HELD_WAITS } from '../../core/budgets.ts'
import { ApiError } from '../../core/errors.ts'
import { createSharing } from '../../core/gather.ts'
import { currentGuest } from '../../core/guests.ts'
import { changedIn, ended, endingOf } from '../../core/signal.ts'
import { createSlots, inSlot } from '../../core/slots.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import { askedFor } from '../../platform/http/addresses.ts'
import { longJson } from '../../platform/http/long-json.ts'
import type { ToolContext } from '../context.ts'

/** Pauses are twice as long as looks: the looks of a parent and its test accounts take at most a third of the time. */
const PAUSE_PER_LOOK = 2

export const tooManyWaits = () =>
  new ApiError(
    503,
    'C0429',
    `at most ${HELD_WAITS} requests of an account and its test accounts wait at once: try again after the seconds in Retry-After`,
  )

/**
 * The result of a look: the response, whose list is an iterator. `isNewer` looks only at rows that were written since:
 * if it is false, another look would find nothing.
 */
export type Look = { found: object | undefined; isNewer?: (() => Promise<boolean>) | undefined }

export type Waits = ReturnType<typeof createWaits>

/** Equal requests that wait. `empty` is the latest look that found nothing. */
type Held = { requests: number; empty?: Look }

export function createWaits(
  { database, signals, watch, config, reading }: ToolContext,
  stopped: () => boolean,
) {
  const takeSlot = createSlots(HELD_WAITS, Infinity, 0)
  const takeTurn = createSlots(1, Infinity)
  const sharing = createSharing<Buffer | object | undefined>()
  const allHeld = new Map<string, Held>()

  /** Returns a function that leaves the place. Throws if too many requests of the parent and its test accounts wait. */
  function takePlace({ name, parent }: Account): () => void {
    const leave = takeSlot(parent ?? name)
    if (leave instanceof Promise) throw tooManyWaits()
    // A request that waits takes no turn. A look does.
    const goOn = currentGuest()?.rest?.()
    return () => {
      leave()
      goOn?.()
    }
  }

  /**
   * Resolves to the JSON of the response that a look finds, or to `nothing` after `ms` milliseconds, or when the client
   * disconnects, the service stops or the account is reset. Equal requests look together and share the JSON. Throws as
   * `takePlace` does.
   */
  async function waitFor(
    request: FastifyRequest,
    reply: FastifyReply,
    { ms, nothing }: { ms: number; nothing: object },
    look: (account: Account) => Promise<Look>,
  ): Promise<Buffer | object> {
    const { account, url } = request
    const { name, parent, room } = account
    const { scheme, host } = askedFor(request, config)
    const key = `${room} ${scheme} ${host} ${url}`
    const lookAt = (now: Account) =>
      reading(request, `${scheme} ${host} ${url}`, async () => {
        const { found, isNewer } = await look(now)
        return { found: found && (await longJson(found, request, reply)), isNewer }
      })
    if (ms === 0) return (await lookAt(account)).found ?? nothing

    const leave = takePlace(account)
    const held = allHeld.get(key) ?? { requests: 0 }
    allHeld.set(key, held)
    held.requests += 1
    async function lookFor(now: Account): Promise<Buffer | undefined> {
      const { found, isNewer } = await lookAt(now)
      if (!found) held.empty = { found, isNewer }
      return found
    }
    async function lookAgain(): Promise<Buffer | object | undefined> {
      const now = await accountOfName(database, name).catch(() => account)
      if (stopped() || now?.room !== room) return nothing
      if (held.empty?.isNewer && !(await held.empty.isNewer())) return undefined
      return lookFor(now)
    }
    const { ending, stop } = endingOf(request.raw.socket, ms)
    const leaveWatch = watch.join({ room })
    const found = signals.untilFound([changedIn(room), ended(room)], ending, async () => {
      if (ending.aborted) return nothing
      if (!held.empty) return lookFor(account)
      return sharing(key, () => inSlot(takeTurn, parent ?? name, () => inThirdOfTime(lookAgain)))
    })
    try {
      return await Promise.race([found, once(ending, 'abort').then(() => nothing)])
    } finally {
      stop()
      leaveWatch()
      held.requests -= 1
      if (held.requests === 0) allHeld.delete(key)
      // A look that has begun keeps the place until it ends.
      void found.catch(() => undefined).finally(leave)
    }
  }

  return { waitFor, takePlace }
}

/** Runs a look, and pauses if it found nothing. A look that fails counts as such: the next may succeed. */
async function inThirdOfTime<Found>(
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const began = performance.now()
  const found = await look().catch(() => undefined)
  if (!found) await sleep(PAUSE_PER_LOOK * (performance.now() - began))
  return found
}
