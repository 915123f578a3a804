/** An account: the owner of API keys, and of everything that is made with them. */
export type Account = {
  name: string
  /** What the column `account` of every other table holds. */
  room: string
  /** Milliseconds that the account's clock is ahead of the machine's. */
  clock_offset: number
  /** The account's time while its clock stands still, in milliseconds since 1970. */
  frozen_at: number | null
}

/** The account of the key that the first start makes, and of FARTHING_API_KEY. */
export const DEFAULT_ACCOUNT = 'default'

/** An account as it is when it is made. Its clock is the machine's. */
export const newAccount = (name: string): Account => ({
  name,
  room: name,
  clock_offset: 0,
  frozen_at: null,
})

/** An account's name is shown in lists. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/

/** Throws when no account may have the name that a command was given. */
export function checkAccountName(name: string): void {
  if (!NAME.test(name))
    throw new Error(
      '--account must be 1 to 64 letters, digits, spaces, dots, hyphens or underscores',
    )
}
