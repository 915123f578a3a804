/** The places of requests in progress. They belong to accounts, so that one cannot take those of all. */
import type { EventEmitter } from 'node:events'
import {
  REQUESTS_IN_PROGRESS,
  REQUESTS_OF_ACCOUNT,
  TURN_WAIT_MS,
  UNNAMED_REQUESTS,
  UNNAMED_WAITING,
} from '../../core/budgets.ts'
import { overloaded } from '../../core/errors.ts'
import type { Guest } from '../../core/guests.ts'
import { createSlots } from '../../core/slots.ts'

/** Accounts that are remembered while they have no request. */
const MOST_IDLE = 1_000

/** The place of a request. Requests below /v1 share that of their account, so that none is made for each. */
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

  /** Undefined if there is no place, or if the account would then have more than its share of what is left. */
  function take(owner: string): Holder | undefined {
    const holder = holderOf(owner)
    const left = REQUESTS_IN_PROGRESS - taken - 1
    const share = REQUESTS_OF_ACCOUNT / (REQUESTS_IN_PROGRESS - REQUESTS_OF_ACCOUNT)
    if (left < 0 || holder.held + 1 > share * left) return undefined
    count(holder, 1)
    return holder
  }

  return {
    /** Undefined if the account has no place left. A request that waits for several things at once has an object of its own. */
    enter(owner: string, isOwn: boolean): Place | undefined {
      const holder = take(owner)
      return isOwn && holder ? ownPlace(holder) : holder
    },
    /** For a request without a key, perhaps after a while. Resolves undefined if too many wait, or `client` closes. */
    async enterUnnamed(client: EventEmitter): Promise<Place | undefined> {
      const release = await takeUnnamed('', TURN_WAIT_MS, client)
      if (!release || taken >= REQUESTS_IN_PROGRESS) {
        release?.()
        return undefined
      }
      taken += 1
      const leave = () => {
        taken -= 1
        release()
      }
      return ownPlace({ owner: '', leave, rest: () => () => {} }, owner => {
        taken -= 1
        const holder = take(owner)
        taken += 1
        if (!holder) throw overloaded()
        leave()
        return holder
      })
    },
  }
}

/** The place of one request, which rests once however many things it waits for. `name` takes a place of the account. */
function ownPlace(first: Place, name?: (owner: string) => Place): Place {
  let place = first
  let rests = 0
  return {
    get owner() {
      return place.owner
    },
    become(owner) {
      if (name && place === first) place = name(owner)
    },
    leave: () => place.leave(),
    rest() {
      const goOn = rests === 0 ? place.rest() : undefined
      rests += 1
      return () => {
        rests -= 1
        goOn?.()
      }
    },
  }
}
