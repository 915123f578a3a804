/**
 * Runs work of a key, a few at once. The others wait for their turn. Those that wait for the same `what` share one run, which
 * begins after each of them has asked; a symbol is the same as no other.
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
