import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { type Account, ownerOf } from './account.ts'
import {
  ALL_RECORD_READERS,
  RECORD_READERS,
  RECORD_READERS_WAITING,
  SLICE_MS,
  TURN_WAIT_MS,
} from './budgets.ts'
import { overloaded, unreadable } from './errors.ts'
import { currentGuest, currentOwner, type Guest, resting, workFor } from './guests.ts'
import { createSlots, inSlot, type ReleaseSlot } from './slots.ts'

/** A request for long work. `socket` closes when the client leaves. */
export type Asker = { account: Account; socket?: Socket }

type Run = {
  done: Promise<unknown>
  /** Settles when the latest caller goes on. */
  latest?: Promise<unknown>
  askers: Asker[]
  left: EventEmitter
}

export type Reading = ReturnType<typeof createReading>

/**
 * Runs long work that changes nothing, such as reading a record: for each account RECORD_READERS at once. Other callers
 * wait without a place; those of a room with the same `what` share one run. Rejects with 503 if too many wait, or one
 * waits too long. If all clients of a run have left, it does not begin, or ends with its next read.
 */
export function createReading() {
  const takeSlot = createSlots(RECORD_READERS, ALL_RECORD_READERS, RECORD_READERS_WAITING)
  const waiting = new Map<string | symbol, Run>()
  const hasLeft = ({ askers }: Run) => askers.every(({ socket }) => socket?.destroyed)

  function begin<Done>(owner: string, what: string | symbol, work: () => Promise<Done>): Run {
    const run: Run = { askers: [], left: new EventEmitter(), done: Promise.resolve() }
    const guest: Guest = { owner, hasLeft: () => hasLeft(run), isReading: true }
    waiting.set(what, run)
    const start = (release: ReleaseSlot | undefined): Promise<Done> => {
      waiting.delete(what)
      if (!release) throw hasLeft(run) ? unreadable() : overloaded()
      return workFor(guest, work).finally(release)
    }
    const slot = takeSlot(owner, TURN_WAIT_MS, run.left)
    run.done = slot instanceof Promise ? slot.then(start) : start(slot)
    return run
  }

  async function share(run: Run, asker: Asker): Promise<unknown> {
    run.askers.push(asker)
    // Each caller goes on in its own turn of the event loop: long responses to all callers in one turn would block it.
    const goOn = run.latest?.then(inNextTurn) ?? run.done
    run.latest = goOn
    const leave = () => hasLeft(run) && run.left.emit('close')
    asker.socket?.once('close', leave)
    try {
      return await resting(goOn)
    } finally {
      asker.socket?.off('close', leave)
    }
  }

  return <Done>(asker: Asker, what: string | symbol, work: () => Promise<Done>): Promise<Done> => {
    if (currentGuest()?.isReading) return work()
    const name = typeof what === 'symbol' ? what : `${asker.account.room} ${what}`
    const run = waiting.get(name) ?? begin(ownerOf(asker.account), name, work)
    return share(run, asker) as Promise<Done> // the same `what` has the same type
  }
}

const inNextTurn = <Done>(done: Done): Promise<Done> => setImmediate(done)

let lastTurn: Promise<unknown> = Promise.resolve()

/** Each caller gets its own turn of the event loop, so that the slices of several do not add up to one long block. */
export function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}

/** To be awaited after each step. Lets other work run if the slice has lasted SLICE_MS, otherwise returns undefined. */
export type Pause = () => Promise<void> | undefined

/** The first slice begins now. `before` is called before each pause. */
export function createPause(before?: () => void): Pause {
  let began = performance.now()
  async function pause(): Promise<void> {
    before?.()
    await ownTurn()
    began = performance.now()
  }
  return () => (performance.now() - began < SLICE_MS ? undefined : pause())
}

/** For `inSlices`: one piece of work at a time on this thread, because each takes much memory. */
const oneAtATime = createSlots(1, 1)

/** Runs the work when all before it have ended. Each of its steps should take far less than 25 ms. */
export function inSlices<Result>(work: (pause: Pause) => Promise<Result>): Promise<Result> {
  return inSlot(oneAtATime, currentOwner(), async () => {
    await ownTurn()
    return work(createPause())
  })
}
