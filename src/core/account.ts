/** An account answers to the letter of the specification, or as GOV.UK Pay does where that differs. */
export const behaviours = ['specification', 'govuk-pay'] as const
export type Behaviour = (typeof behaviours)[number]

/** Completes a sentence that begins with `it`, for an account of each behaviour. */
export const behaviourMeanings: Readonly<Record<Behaviour, string>> = {
  specification: 'answers to the letter of the specification',
  'govuk-pay': 'answers as GOV.UK Pay does where that differs from the specification',
}

/** An account: the owner of API keys, and of everything that is made with them. */
export type Account = {
  /** Unique. The name of a test account begins with its parent's; `givenName` returns the part that people use. */
  name: string
  /** The value of the column `account`, except in `api_keys` and `ended_rooms`, which have the account's name there. */
  room: string
  /** Milliseconds that the account's clock is ahead of the machine's. */
  clock_offset: number
  /** The account's time while its clock stands still, in milliseconds since 1970. */
  frozen_at: number | null
  parent: string | null
  epoch: number
  /** Only a reset changes it; in the default account a start of the service does too. */
  behaviour: Behaviour
}

/** The columns of an `Account`. No other table has columns of these names. */
export const ACCOUNT_COLUMNS = 'name, room, clock_offset, frozen_at, parent, epoch, behaviour'

/** The account in a row that has other columns too. */
export const accountIn = (row: Account): Account => {
  const { name, room, clock_offset, frozen_at, parent, epoch, behaviour } = row
  return { name, room, clock_offset, frozen_at, parent, epoch, behaviour }
}

/** The account whose places, turns and shares this one uses: itself, or its parent. */
export const ownerOf = ({ name, parent }: Account): string => parent ?? name

/** The account of the key that the first start makes, and of FARTHING_API_KEY. */
export const DEFAULT_ACCOUNT = 'default'

export const newAccount = (name: string, behaviour: Behaviour = 'specification'): Account => ({
  name,
  room: name,
  clock_offset: 0,
  frozen_at: null,
  parent: null,
  epoch: 0,
  behaviour,
})

/** Two parents can give a test account the same name. No given name contains a slash. */
export const testAccountName = (parent: string, name: string): string => `${parent}/${name}`

export const newTestAccount = (parent: string, name: string, behaviour?: Behaviour): Account => ({
  ...newAccount(testAccountName(parent, name), behaviour),
  parent,
})

export const givenName = ({ name }: Pick<Account, 'name'>): string =>
  name.slice(name.indexOf('/') + 1)

/** The room of the account after `epoch` resets. No account can have this name. */
export const roomOf = (name: string, epoch: number): string =>
  epoch === 0 ? name : `${name}#${epoch}`

/** Names are shown in lists, so they hold no control characters and do not begin with a space. */
export const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/

export const isAccountName = (name: string): boolean => ACCOUNT_NAME.test(name)
