/** The account for which work is done. Code far below the request reads it: in queues, accounts take turns. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Account, ownerOf } from './account.ts'

export type Guest = {
  /** The account, or the parent of a test account; '' where none is known. */
  readonly owner: string
  /** Counts the request as this account's, once its token is known. Throws 503 if the account has no place left. */
  become?: (owner: string) => void
  /** Gives up the place of the request while it only waits. Returns the function that takes it back. */
  rest?: () => () => void
  /** Whether every client of the work has left: then its next read is rejected. Only for work that changes nothing. */
  hasLeft?: () => boolean
  /** Whether the guest has a turn of createReading. */
  isReading?: true
}

const guests = new AsyncLocalStorage<Guest | undefined>()

/** For work of the background on an account's rows. */
export const guestOf = (account: Account): Guest => ({ owner: ownerOf(account) })

/** For the rest of the background, which takes turns with the accounts. No account can have this name. */
export const BACKGROUND: Guest = { owner: ' background' }

/** Undefined for work that neither a request nor the background does. */
export const currentGuest = (): Guest | undefined => guests.getStore()

export const currentOwner = (): string => guests.getStore()?.owner ?? ''

/** Calls `work` for the guest. Work that it starts belongs to the guest too. */
export const workFor = <Done>(guest: Guest | undefined, work: () => Done): Done =>
  guests.run(guest, work)

/** Waits for `wait`. Meanwhile the request gives up its place. */
export async function resting<Done>(wait: Promise<Done>): Promise<Done> {
  const goOn = guests.getStore()?.rest?.()
  try {
    return await wait
  } finally {
    goOn?.()
  }
}
