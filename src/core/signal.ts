import { EventEmitter } from 'node:events'

/** The waiters of this process, by what they wait for. The state is in the database: a signal says that it has changed. */
export type Signals = ReturnType<typeof createSignals>

export function createSignals() {
  const waiters = new EventEmitter().setMaxListeners(0)

  /** Calls `wake` whenever one of the names is set, until the result is called. */
  function on(names: readonly string[], wake: () => void): () => void {
    for (const name of names) waiters.on(name, wake)
    return () => {
      for (const name of names) waiters.off(name, wake)
    }
  }

  return {
    on,
    /** Wakes all that wait for this, and returns whether anybody does. Call it after the write. */
    set: (name: string): boolean => waiters.emit(name),
    /** Wakes everybody, because the service stops. */
    setAll(): void {
      for (const name of waiters.eventNames()) waiters.emit(name)
    },
    /** Calls `look` until it finds something: at once, whenever one of the names is set, and once more when `ending` aborts. */
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

/** Names of signals. Something of the room was changed or recorded. */
export const changedIn = (room: string): string => `changed ${room}`
/** The room is no account's any more. */
export const ended = (room: string): string => `ended ${room}`
/** The key was revoked. */
export const revoked = (key_id: string): string => `revoked ${key_id}`
/** Attempts wait for the listener, or its webhook has changed. */
export const attemptFor = (webhook_id: string): string => `attempt ${webhook_id}`
/** The listener has gone, or will soon count as gone. */
export const leftBy = (webhook_id: string): string => `left ${webhook_id}`
/** The attempt has its answer. */
export const answerTo = (attempt_id: string): string => `answer ${attempt_id}`
