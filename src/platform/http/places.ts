/** The places of requests in progress. Each account has a share of them, so that one account cannot take all. */
import type { EventEmitter } from 'node:events'
import {
  CONTROL_REQUESTS,
  REQUESTS_IN_PROGRESS,
  REQUESTS_OF_ACCOUNT,
  TURN_WAIT_MS,
  UNNAMED_REQUESTS,
  UNNAMED_WAITING,
} from '../../core/budgets.ts'
import { overloaded } from '../../core/errors.ts'
import type { Guest } from '../../core/guests.ts'
import { createSlots, type ReleaseSlot } from '../../core/slots.ts'
import type { AreaName } from './areas.ts'

/** The number of accounts beyond which those without a request are forgotten. */
const MOST_IDLE = 1_000

/** The place of a request. Requests below /v1 share the object of their account, so that none is made for each. */
export type Place = Guest & { leave(): void; rest(): () => void }

type Holder = Place & {
  /** Requests in progress. */
  held: number
}

export function createPlaces() {
  const holders = new Map<string, Holder>()
  const takeUnnamed = createSlots(UNNAMED_REQUESTS, UNNAMED_REQUESTS, UNNAMED_WAITING)
  let taken = 0

  function count(holder: Holder, places: 1 | -1): void {
    holder.held += places
    taken += places
  }

  function holderOf(owner: string): Holder {
    const known = holders.get(owner)
    if (known) return known
    if (holders.size > MOST_IDLE)
      for (const [name, { held }] of holders) if (held === 0) holders.delete(name)
    const holder: Holder = {
      owner,
      held: 0,
      leave: () => count(holder, -1),
      rest() {
        count(holder, -1)
        return () => count(holder, 1)
      },
    }
    holders.set(owner, holder)
    return holder
  }

  /** Undefined without a free place, or if the account would exceed its share of the places left, and `beyond` more. */
  function take(owner: string, beyond = 0): Holder | undefined {
    const holder = holderOf(owner)
    const left = REQUESTS_IN_PROGRESS - taken - 1
    const share = REQUESTS_OF_ACCOUNT / (REQUESTS_IN_PROGRESS - REQUESTS_OF_ACCOUNT)
    // One request more lowers the number of places left by one, and so the account's limit by `share`.
    if (left < 0 || holder.held + 1 > share * left + (share + 1) * beyond) return undefined
    count(holder, 1)
    return holder
  }

  function unnamedPlace(release: ReleaseSlot | undefined): Place | undefined {
    if (!release || taken >= REQUESTS_IN_PROGRESS) {
      release?.()
      return undefined
    }
    taken += 1
    const leave = () => {
      taken -= 1
      release()
    }
    return new OwnPlace({ owner: '', leave, rest: () => () => {} }, owner => {
      taken -= 1
      const holder = take(owner)
      taken += 1
      if (!holder) throw overloaded()
      leave()
      return holder
    })
  }

  return {
    /** Undefined if the account has no place left. Requests outside /v1 have their own object: see OwnPlace. */
    enter(owner: string, area: AreaName): Place | undefined {
      const holder = take(owner, area === 'control' ? CONTROL_REQUESTS : 0)
      return area !== 'api' && holder ? new OwnPlace(holder) : holder
    },
    /** A place for a request without a key, now or later. Undefined if too many wait, or `client` closes. */
    enterUnnamed(client: EventEmitter): Place | undefined | Promise<Place | undefined> {
      const slot = takeUnnamed('', TURN_WAIT_MS, client)
      return slot instanceof Promise ? slot.then(unnamedPlace) : unnamedPlace(slot)
    },
  }
}

/**
 * The place of one request. It gives the place up once, even while it waits for several results. A class, because V8
 * makes a shape for each object literal with a getter, and kept everything that the getter sees: a page cost 20 % more.
 */
class OwnPlace implements Place {
  #place: Place
  #name: ((owner: string) => Place) | undefined
  #rests = 0

  /** `name` takes a place of the account instead of the first. */
  constructor(first: Place, name?: (owner: string) => Place) {
    this.#place = first
    this.#name = name
  }

  get owner(): string {
    return this.#place.owner
  }

  become(owner: string): void {
    if (!this.#name) return
    this.#place = this.#name(owner)
    this.#name = undefined
  }

  leave(): void {
    this.#place.leave()
  }

  rest(): () => void {
    const goOn = this.#rests === 0 ? this.#place.rest() : undefined
    this.#rests += 1
    return () => {
      this.#rests -= 1
      goOn?.()
    }
  }
}
