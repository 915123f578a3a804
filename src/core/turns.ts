import { setImmediate } from 'node:timers/promises'
import { SLICE_MS } from './budgets.ts'
import { createSlots } from './slots.ts'

export type Turns = ReturnType<typeof createTurns>

/**
 * At most `atOnce` runs per key; others queue. Callers that queue with the same `what` share one run, which begins after
 * their calls. Pass a new Symbol to share with nobody.
 */
export function createTurns(atOnce: number) {
  const takeSlot = createSlots(atOnce, Infinity)
  /** By key: the runs that wait for a slot. */
  const waiting = new Map<string, Map<string | symbol, Promise<unknown>>>()

  return <Done>(key: string, what: string | symbol, work: () => Promise<Done>): Promise<Done> => {
    const runs = waiting.get(key) ?? new Map()
    const same = runs.get(what)
    if (same) return same as Promise<Done> // the same was asked for
    const slot = takeSlot(key)
    if (!(slot instanceof Promise)) return work().finally(slot)
    const done = slot.then(release => {
      runs.delete(what)
      if (runs.size === 0) waiting.delete(key)
      return work().finally(release)
    })
    waiting.set(key, runs.set(what, done))
    return done
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** Each caller gets a turn of the event loop of its own, so that the slices of several do not add up to one long block. */
export function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}

/** Resolves at once, or after other work if this slice has taken long enough. To be awaited after each step. */
export type Pause = () => Promise<void>

/** One at a time on this thread, because of the memory that each takes. */
const oneAtATime = createTurns(1)

/** Runs the work when the one before has ended. Each of its steps should take far less than 25 ms. */
export const inSlices = <Result>(work: (pause: Pause) => Promise<Result>): Promise<Result> =>
  oneAtATime('', Symbol(), async () => {
    await ownTurn()
    let began = performance.now()
    return work(async () => {
      if (performance.now() - began < SLICE_MS) return
      await ownTurn()
      began = performance.now()
    })
  })
