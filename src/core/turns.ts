import { setImmediate } from 'node:timers/promises'
import { SLICE_MS } from './budgets.ts'

/**
 * At most `atOnce` runs per key; others queue. Callers that queue with the same `what` share one run, which begins after
 * their calls. Pass a new Symbol to share with nobody.
 */
export type Turns = <Done>(
  key: string,
  what: string | symbol,
  work: () => Promise<Done>,
) => Promise<Done>

type Turn = { begin: () => void; done: Promise<unknown> }
type Queue = { running: number; waiting: Map<string | symbol, Turn> }

export function createTurns(atOnce: number): Turns {
  const queues = new Map<string, Queue>()

  function end(key: string, queue: Queue): void {
    const [next] = queue.waiting
    if (next) {
      queue.waiting.delete(next[0])
      next[1].begin()
      return
    }
    queue.running -= 1
    if (queue.running === 0) queues.delete(key)
  }

  return <Done>(key: string, what: string | symbol, work: () => Promise<Done>): Promise<Done> => {
    const queue = queues.get(key) ?? { running: 0, waiting: new Map() }
    queues.set(key, queue)
    const run = () => work().finally(() => end(key, queue))
    if (queue.running < atOnce) {
      queue.running += 1
      return run()
    }
    const same = queue.waiting.get(what)
    if (same) return same.done as Promise<Done> // the same was asked for
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>()
    const done = turn.then(run)
    queue.waiting.set(what, { begin, done })
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
