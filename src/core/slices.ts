/** Work that is long is done in slices, and other work of the thread in between. */
import { setImmediate } from 'node:timers/promises'
import { SLICE_MS } from './budgets.ts'
import { createTurns } from './turns.ts'

let lastTurn: Promise<unknown> = Promise.resolve()

/** Resolves in a turn of the event loop in which no other caller goes on: slices of many would be as long as the whole. */
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
