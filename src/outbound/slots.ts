/** Takes a slot of `host`, now or when one is released. Resolves undefined after `timeoutMs` without a slot. */
export type TakeSlot = (
  host: string,
  timeoutMs: number,
) => ReleaseSlot | Promise<ReleaseSlot | undefined>

/** Passes the slot to the longest waiting caller. Call it once. */
export type ReleaseSlot = () => void

/**
 * A semaphore for each host with `limit` slots, so that a receiver that hangs delays only messages to its own
 * host. `maxSockets` of the HTTP agent is not used: the agent opens connections for queued requests that
 * have been destroyed.
 */
export function createSlots(limit: number): TakeSlot {
  const hosts = new Map<string, { taken: number; waiting: Set<() => void> }>()

  return (host, timeoutMs) => {
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
        clearTimeout(timer)
        resolve(release)
      }
      const timer = setTimeout(() => {
        slots.waiting.delete(take)
        resolve(undefined)
      }, timeoutMs)
      slots.waiting.add(take)
    })
  }
}
