import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { HELD_WAITS } from '../../core/budgets.ts'
import { ApiError } from '../../core/errors.ts'
import type { Database } from '../../core/ports.ts'
import { createSignal, type Signal } from '../../core/signal.ts'
import { accountOfName } from '../../platform/accounts/store.ts'

/** Milliseconds. */
export const LONGEST_WAIT = 10_000
/** Milliseconds after which a wait looks although nothing woke it: time passes, and another process may have written. */
const LOOK_EVERY = 250
/** The same where other instances write. */
const LOOK_EVERY_IF_SHARED = 100
/** Milliseconds between two rounds of looks. */
const BETWEEN_ROUNDS = 5
/** The waits of a parent and its test accounts take a third of the time at most. */
const PAUSE_PER_LOOK = 2

export const tooManyWaits = () =>
  new ApiError(
    503,
    'C0429',
    `at most ${HELD_WAITS} requests of an account and its test accounts wait at once: try again after the seconds in Retry-After`,
  )

export type Look<Found> = {
  find: (account: Account) => Promise<Found[]>
  /** Looks only at what is newer than the last look: `find` finds nothing if it is false. */
  isNewer?: (account: Account) => Promise<boolean>
}

export type Waits = ReturnType<typeof createWaits>
export type WaitFor = Waits['waitFor']

/** Requests that wait for the same. */
type Held = {
  account: Account
  look: Look<unknown>
  isWoken: boolean
  hasLooked: boolean
  waiting: Set<(found: unknown[]) => void>
}
/** Those of a parent and its test accounts, which one loop serves. */
type Family = { requests: number; held: Map<string, Held>; signal: Signal }

type WaitPorts = { database: Database; isShared: boolean; stopped: () => boolean }

export function createWaits(ports: WaitPorts) {
  const families = new Map<string, Family>()
  const ofRoom = new Map<string, Family>()
  const every = ports.isShared ? LOOK_EVERY_IF_SHARED : LOOK_EVERY

  async function serve(family: Family): Promise<void> {
    const tick = setInterval(() => {
      for (const held of family.held.values()) held.isWoken = true
      family.signal.set()
    }, every)
    while (family.requests > 0) {
      const began = performance.now()
      await lookRound(ports, family)
      await sleep(Math.max(BETWEEN_ROUNDS, PAUSE_PER_LOOK * (performance.now() - began)))
      if (family.requests > 0) await family.signal.next()
    }
    clearInterval(tick)
  }

  function enter({ name, parent, room }: Account): Family {
    const key = parent ?? name
    const family = families.get(key) ?? { requests: 0, held: new Map(), signal: createSignal() }
    if (family.requests >= HELD_WAITS) throw tooManyWaits()
    families.set(key, family)
    ofRoom.set(room, family)
    family.requests += 1
    if (family.requests === 1) void serve(family)
    return family
  }

  function leave(family: Family, { name, parent, room }: Account): void {
    family.requests -= 1
    if (family.requests === 0) families.delete(parent ?? name)
    if (!family.held.values().some(({ account }) => account.room === room)) ofRoom.delete(room)
  }

  /**
   * Looks until it finds something or `ms` milliseconds have passed, with all that ask for the same. Returns nothing when
   * the client disconnects, the service stops or the account is reset. Throws if too many requests of the account wait.
   */
  async function waitFor<Found>(
    { account, url, raw }: FastifyRequest,
    ms: number,
    look: () => Look<Found>,
  ): Promise<Found[]> {
    if (ms === 0) return look().find(account)
    const family = enter(account)
    const key = `${account.room} ${url}`
    const held = family.held.get(key) ?? {
      account,
      look: look(),
      isWoken: false,
      hasLooked: false,
      waiting: new Set(),
    }
    family.held.set(key, held)
    const { promise, resolve } = Promise.withResolvers<unknown[]>()
    held.waiting.add(resolve)
    const nothing = () => resolve([])
    const end = setTimeout(nothing, ms)
    raw.socket.once('close', nothing)
    try {
      // What is written from now on wakes it.
      await lookOnce(held, account)
      return (await promise) as Found[] // of an equal request
    } finally {
      clearTimeout(end)
      raw.socket.removeListener('close', nothing)
      held.waiting.delete(resolve)
      if (held.waiting.size === 0) family.held.delete(key)
      leave(family, account)
    }
  }

  return {
    waitFor,
    /** Call it after something of the room was written or recorded. */
    wake(room: string): void {
      const family = ofRoom.get(room)
      if (!family) return
      for (const held of family.held.values()) if (held.account.room === room) held.isWoken = true
      family.signal.set()
    },
  }
}

/** A round of looks. One that fails ends no wait: the next may not. */
async function lookRound(ports: WaitPorts, { held }: Family): Promise<void> {
  const { database, stopped } = ports
  const accounts = new Map<string, Account | undefined>()
  for (const each of held.values()) {
    if (!each.isWoken) continue
    const { name } = each.account
    if (!accounts.has(name))
      accounts.set(name, await accountOfName(database, name).catch(() => each.account))
    await lookOnce(each, stopped() ? undefined : accounts.get(name)).catch(() => undefined)
  }
}

/** `now` is the account; undefined when the wait is over. */
async function lookOnce(held: Held, now: Account | undefined): Promise<void> {
  const { account, look, waiting } = held
  held.isWoken = false
  const isOver = now?.room !== account.room
  if (!isOver && held.hasLooked && look.isNewer && !(await look.isNewer(now))) return
  const found = isOver ? [] : await look.find(now)
  held.hasLooked = true
  if (found.length > 0 || isOver) for (const resolve of waiting) resolve(found)
}
