import { EventEmitter } from 'node:events'

/** Wakes one waiter. `next` resolves at the next `set`, or at once if there was one since it last resolved. */
export type Signal = { set(): void; next(): Promise<void> }

export function createSignal(): Signal {
  let current = Promise.withResolvers<void>()
  return {
    set: () => current.resolve(),
    async next() {
      await current.promise
      current = Promise.withResolvers()
    },
  }
}

type Waiting = {
  /** Milliseconds between two looks, for what another instance writes. */
  every: number
  /** To wake this waiter for another reason. */
  signal?: Signal
}

/** The waiters of this process, by what they wait for. The state is in the database: a signal only saves time. */
export type Signals = ReturnType<typeof createSignals>

export function createSignals() {
  const waiters = new EventEmitter().setMaxListeners(0)
  return {
    /** Wakes all that wait for this. Call it after the write. */
    set(name: string): void {
      waiters.emit(name)
    },
    /** Calls `look` at once, after each signal and every so often, until it finds something. Rejects when `look` does. */
    async pollUntilFound<Found>(
      name: string,
      { every, signal = createSignal() }: Waiting,
      look: () => Promise<Found | undefined>,
    ): Promise<Found> {
      const tick = setInterval(signal.set, every)
      waiters.on(name, signal.set)
      try {
        for (;;) {
          const found = await look()
          if (found !== undefined) return found
          await signal.next()
        }
      } finally {
        clearInterval(tick)
        waiters.off(name, signal.set)
      }
    },
  }
}
