import type { EventEmitter } from 'node:events'

/** Passes the slot on to a waiting caller. Call it once. */
export type ReleaseSlot = () => void

/** Takes a slot, now or when one is free. Undefined after `ms` milliseconds, if `client` closes or if too many wait. */
export type TakeSlot = (
  owner: string,
  ms?: number,
  client?: EventEmitter,
) => ReleaseSlot | Promise<ReleaseSlot | undefined>

type Slots = { taken: number; waiting: Set<(isTurn: boolean) => void> }

/**
 * A semaphore with `inAll` slots, of which an owner gets `ofOwner` at most. A free slot goes to the waiting owner with
 * the fewest slots, and there to the caller that has waited longest; equal owners take turns. If `mostWaiting` callers
 * wait, the newest of the owner with the most gives way to a caller of an owner with fewer. `maxSockets` of the HTTP
 * agent is no substitute: it opens connections for queued requests that have been destroyed.
 */
export function createSlots(ofOwner: number, inAll: number, mostWaiting = Infinity): TakeSlot {
  const owners = new Map<string, Slots>()
  let taken = 0
  let waiting = 0

  function mostInNeed(): Slots | undefined {
    let neediest: Slots | undefined
    for (const slots of owners.values())
      if (slots.waiting.size > 0 && slots.taken < Math.min(ofOwner, neediest?.taken ?? ofOwner))
        neediest = slots
    return neediest
  }

  function makePlace({ waiting: { size } }: Slots): boolean {
    if (waiting < mostWaiting) return true
    const [longest] = [...owners.values()].sort((a, b) => b.waiting.size - a.waiting.size)
    if (!longest || longest.waiting.size <= size + 1) return false
    const newest = [...longest.waiting].at(-1)
    newest?.(false)
    return true
  }

  return (owner, ms, client) => {
    const slots = owners.get(owner) ?? { taken: 0, waiting: new Set() }
    owners.set(owner, slots)

    const forgetIfUnused = () => {
      if (slots.taken === 0 && slots.waiting.size === 0) owners.delete(owner)
    }
    const take = () => {
      slots.taken += 1
      taken += 1
      // Among owners with equally many slots, the one that has waited longest since its last is next.
      if (owners.size > 1) {
        owners.delete(owner)
        owners.set(owner, slots)
      }
      return release
    }
    const release = () => {
      slots.taken -= 1
      taken -= 1
      const [next] = mostInNeed()?.waiting ?? []
      next?.(true)
      forgetIfUnused()
    }

    if (slots.taken < ofOwner && taken < inAll) return take()
    return new Promise(resolve => {
      if (!makePlace(slots)) {
        resolve(undefined)
        forgetIfUnused()
        return
      }
      const end = (isTurn: boolean) => {
        slots.waiting.delete(end)
        waiting -= 1
        clearTimeout(timer)
        client?.off('close', giveUp)
        resolve(isTurn ? take() : undefined)
        forgetIfUnused()
      }
      const giveUp = () => end(false)
      const timer = ms === undefined ? undefined : setTimeout(giveUp, ms)
      client?.once('close', giveUp)
      slots.waiting.add(end)
      waiting += 1
    })
  }
}

/** Runs the work when the owner has a slot. For semaphores that limit neither the time nor the number of waits. */
export async function inSlot<Done>(takeSlot: TakeSlot, owner: string, work: () => Promise<Done>) {
  const release = await takeSlot(owner)
  try {
    return await work()
  } finally {
    release?.()
  }
}
