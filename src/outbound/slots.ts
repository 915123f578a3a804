/** Takes a slot of `host`: at once, or when one comes free; undefined when none did within `longest` milliseconds. */
export type TakeSlot = (
  host: string,
  longest: number,
) => ReleaseSlot | Promise<ReleaseSlot | undefined>

/** Gives the slot to who has waited longest. To be called once. */
export type ReleaseSlot = () => void

/**
 * At most `limit` slots per host, so that a receiver that hangs costs its own callers their time and
 * nobody else anything. The HTTP agent's own queue is not used: it opens connections for requests
 * that were given up while they waited.
 */
export function createSlots(limit: number): TakeSlot {
  const hosts = new Map<string, { taken: number; waiting: Set<() => void> }>()

  return (host, longest) => {
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
        clearTimeout(patience)
        resolve(release)
      }
      const patience = setTimeout(() => {
        slots.waiting.delete(take)
        resolve(undefined)
      }, longest)
      slots.waiting.add(take)
    })
  }
}
