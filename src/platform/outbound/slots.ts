/** Takes a slot of `host`, now or when one is released. Resolves undefined after `timeoutMs` without a slot. */
type TakeSlot = (host: string, timeoutMs: number) => ReleaseSlot | Promise<ReleaseSlot | undefined>

/** Passes the slot on to a waiting caller. Call it once. */
export type ReleaseSlot = () => void

type Slots = { taken: number; waiting: Set<() => void> }

/**
 * A semaphore with `inAll` slots, of which a host gets at most `perHost`, so that a receiver that hangs delays only
 * messages to its own host. Of the hosts for which somebody waits, the one with the fewest slots gets the next, and of
 * its callers the one that has waited longest. `maxSockets` of the HTTP agent is not used: the agent opens connections
 * for queued requests that have been destroyed.
 */
export function createSlots(perHost: number, inAll: number): TakeSlot {
  const hosts = new Map<string, Slots>()
  let taken = 0

  function mostInNeed(): Slots | undefined {
    let found: Slots | undefined
    for (const slots of hosts.values())
      if (slots.waiting.size > 0 && slots.taken < Math.min(perHost, found?.taken ?? perHost))
        found = slots
    return found
  }

  function passOn(): void {
    const [next] = mostInNeed()?.waiting ?? []
    next?.()
  }

  return (host, timeoutMs) => {
    const slots = hosts.get(host) ?? { taken: 0, waiting: new Set() }
    hosts.set(host, slots)

    const forgetIfUnused = () => {
      if (slots.taken === 0 && slots.waiting.size === 0) hosts.delete(host)
    }
    const take = () => {
      slots.taken += 1
      taken += 1
      return release
    }
    const release = () => {
      slots.taken -= 1
      taken -= 1
      passOn()
      forgetIfUnused()
    }

    if (slots.taken < perHost && taken < inAll) return take()
    return new Promise(resolve => {
      const stopWaiting = () => {
        slots.waiting.delete(takeNext)
        clearTimeout(timer)
      }
      const takeNext = () => {
        stopWaiting()
        resolve(take())
      }
      const timer = setTimeout(() => {
        stopWaiting()
        forgetIfUnused()
        resolve(undefined)
      }, timeoutMs)
      slots.waiting.add(takeNext)
    })
  }
}
