/** The account for which work is done, known also far below the request: queues let accounts take turns. */
import { AsyncLocalStorage } from 'node:async_hooks'

export type Guest = {
  /** The account, or the parent of a test account; '' where none is known. */
  readonly owner: string
  /** Makes the request one of this account, once its token is known. Throws 503 if the account has no place left. */
  become?: (owner: string) => void
  /** Gives up the place of the request while it only waits. Returns the function that takes it back. */
  rest?: () => () => void
  /** Whether nobody wants the result any more. Only of work that changes nothing: its next read is rejected. */
  hasLeft?: () => boolean
  /** Whether the guest has a turn of createReading. */
  isReading?: true
}

const guests = new AsyncLocalStorage<Guest | undefined>()

/** Undefined for work that no request asked for. */
export const currentGuest = (): Guest | undefined => guests.getStore()

export const currentOwner = (): string => guests.getStore()?.owner ?? ''

/** Calls `work`, and all that follows from it, for the guest. */
export const workFor = <Done>(guest: Guest | undefined, work: () => Done): Done =>
  guests.run(guest, work)

/** Waits while the request has no place. */
export async function resting<Done>(wait: Promise<Done>): Promise<Done> {
  const goOn = guests.getStore()?.rest?.()
  try {
    return await wait
  } finally {
    goOn?.()
  }
}
