/** Takes a slot of `host`, or answers undefined when `signal` was aborted before one came free. */
export type TakeSlot = (host: string, signal: AbortSignal) => Promise<ReleaseSlot | undefined>

/** Gives the slot to who has waited longest. To be called once. */
export type ReleaseSlot = () => void

/**
 * At most `limit` slots per host, so that a receiver that hangs costs its own callers their time and
 * nobody else anything. The HTTP agent's own queue is not used: it opens connections for requests
 * that were given up while they waited.
 */
export function createSlots(limit: number): TakeSlot {
  const hosts = new Map<string, { taken: number; waiting: Set<() => void> }>()

  return async (host, signal) => {
    const slots = hosts.get(host) ?? { taken: 0, waiting: new Set() }
    hosts.set(host, slots)

    const release = () => {
      const [next] = slots.waiting
      if (next) return next()
      slots.taken -= 1
      if (slots.taken === 0) hosts.delete(host)
    }

    if (slots.taken < limit) {
      slots.taken += 1
      return release
    }
    return new Promise(resolve => {
      const take = () => {
        slots.waiting.delete(take)
        signal.removeEventListener('abort', giveUp)
        resolve(release)
      }
      const giveUp = () => {
        slots.waiting.delete(take)
        resolve(undefined)
      }
      slots.waiting.add(take)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }
}
