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
export type Signals = {
  /** Wakes all that wait for this. Call it after the write. */
  set(name: string): void
  /** Calls `look` at once, after each signal and every so often, until it finds something. Rejects when `look` does. */
  pollUntilFound<Found>(
    name: string,
    waiting: Waiting,
    look: () => Promise<Found | undefined>,
  ): Promise<Found>
}

export function createSignals(): Signals {
  const waiters = new Map<string, Set<Signal>>()

  function add(name: string, signal: Signal): () => void {
    const named = waiters.get(name) ?? new Set()
    waiters.set(name, named.add(signal))
    return () => {
      named.delete(signal)
      if (named.size === 0) waiters.delete(name)
    }
  }

  return {
    set(name) {
      for (const signal of waiters.get(name) ?? []) signal.set()
    },
    async pollUntilFound(name, { every, signal = createSignal() }, look) {
      const remove = add(name, signal)
      const tick = setInterval(signal.set, every)
      try {
        for (;;) {
          const found = await look()
          if (found !== undefined) return found
          await signal.next()
        }
      } finally {
        clearInterval(tick)
        remove()
      }
    },
  }
}
