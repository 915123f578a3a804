import { EventEmitter } from 'node:events'

/** The waiters of this process, by what they wait for. The state is in the database: a signal only saves time. */
export type Signals = ReturnType<typeof createSignals>

export function createSignals() {
  const waiters = new EventEmitter().setMaxListeners(0)
  return {
    /** Wakes all that wait for this. Call it after the write. */
    set(name: string): void {
      waiters.emit(name)
    },
    /**
     * Calls `look` until it finds something: at once, when `name` is set, and after each `every` milliseconds, because
     * another instance may have written. When `ending` aborts, it is called once more at once. Rejects when `look` does.
     */
    async pollUntilFound<Found>(
      name: string,
      { every, ending }: { every: number; ending: AbortSignal },
      look: () => Promise<Found | undefined>,
    ): Promise<Found> {
      let woken = Promise.withResolvers<void>()
      const wake = () => woken.resolve()
      const tick = setInterval(wake, every)
      waiters.on(name, wake)
      ending.addEventListener('abort', wake)
      try {
        for (;;) {
          const found = await look()
          if (found !== undefined) return found
          await woken.promise
          woken = Promise.withResolvers()
        }
      } finally {
        clearInterval(tick)
        waiters.off(name, wake)
        ending.removeEventListener('abort', wake)
      }
    },
  }
}
