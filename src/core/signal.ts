import { EventEmitter } from 'node:events'

/** This process's waiters, by the name of their signal. It carries no state: a woken waiter reads the database. */
export type Signals = ReturnType<typeof createSignals>

export function createSignals() {
  const waiters = new EventEmitter().setMaxListeners(0)

  /** Calls `wake` whenever one of these signals is set, until the returned function is called. */
  function on(names: readonly string[], wake: () => void): () => void {
    for (const name of names) waiters.on(name, wake)
    return () => {
      for (const name of names) waiters.off(name, wake)
    }
  }

  return {
    on,
    /** Wakes all waiters of this signal, and returns whether there were any. Call it after the write. */
    set: (name: string): boolean => waiters.emit(name),
    /** Wakes all waiters, because the service stops. */
    setAll(): void {
      for (const name of waiters.eventNames()) waiters.emit(name)
    },
    /** Calls `look` at once, when one of the signals is set and when `ending` aborts, until it returns something. */
    async untilFound<Found>(
      names: readonly string[],
      ending: AbortSignal,
      look: () => Promise<Found | undefined>,
    ): Promise<Found> {
      let woken = Promise.withResolvers<void>()
      const wake = () => woken.resolve()
      const off = on(names, wake)
      ending.addEventListener('abort', wake)
      try {
        for (;;) {
          const found = await look()
          if (found !== undefined) return found
          await woken.promise
          woken = Promise.withResolvers()
        }
      } finally {
        off()
        ending.removeEventListener('abort', wake)
      }
    },
  }
}

/** Aborts after `ms` milliseconds, when the client disconnects, and with `stop`. */
export function endingOf(socket: EventEmitter, ms: number) {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, ms)
  socket.once('close', end)
  const stop = () => {
    clearTimeout(timer)
    socket.off('close', end)
    end()
  }
  return { ending: ending.signal, stop }
}

/** From here on: the names of signals, with their meanings. A row of the room was changed or recorded. */
export const changedIn = (room: string): string => `changed ${room}`
/** The room belongs to no account any more: its account was reset or has ended. */
export const ended = (room: string): string => `ended ${room}`
/** The key was revoked. */
export const revoked = (key_id: string): string => `revoked ${key_id}`
/** Attempts wait for the listener, or its webhook has changed. */
export const attemptFor = (webhook_id: string): string => `attempt ${webhook_id}`
/** The listener has gone, or will soon count as gone. */
export const leftBy = (webhook_id: string): string => `left ${webhook_id}`
/** The listener has reported the result of the attempt. */
export const answerTo = (attempt_id: string): string => `answer ${attempt_id}`
