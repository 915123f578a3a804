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

/** Names are shown in lists, so they hold no control characters and do not begin with a space. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/

export const isAccountName = (name: string): boolean => NAME.test(name)
