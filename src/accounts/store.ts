import { createHash, timingSafeEqual } from 'node:crypto'
import { newSecret } from '../ids.ts'
import type { Database, NewId, Statement, Time } from '../ports.ts'
import { type Account, DEFAULT_ACCOUNT, newAccount } from './account.ts'

export type ApiKey = { key_id: string; account: string; created: number; revoked: number | null }

const COLUMNS = 'accounts.name, accounts.room, accounts.clock_offset, accounts.frozen_at'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Makes a key of the account, and the account if there is none. Only the key's hash is kept, so it cannot be shown again. */
export async function createKey(
  ports: { database: Database; time: Time; newId: NewId },
  account: string,
): Promise<{ key_id: string; key: string }> {
  const created = ports.time.wall()
  const key_id = ports.newId(created)
  const key = `api_test_${newSecret()}${newSecret()}`
  await ports.database.write([
    insertAccount(newAccount(account)),
    {
      sql: 'insert into api_keys (key_id, account, hash, created) values ($1, $2, $3, $4)',
      values: [key_id, account, sha256(key).toString('hex'), created],
    },
  ])
  return { key_id, key }
}

/** Changes nothing when the account exists. */
export const insertAccount = ({ name, room, clock_offset, frozen_at }: Account): Statement => ({
  sql: `insert into accounts (name, room, clock_offset, frozen_at) values ($1, $2, $3, $4)
        on conflict do nothing`,
  values: [name, room, clock_offset, frozen_at],
})

/** All keys, oldest first, without the keys themselves. */
export const listKeys = (database: Database): Promise<ApiKey[]> =>
  database.query<ApiKey>(
    'select key_id, account, created, revoked from api_keys order by created, key_id',
  )

/** Returns false when there is no such key or it was revoked before. */
export const revokeKey = (database: Database, key_id: string, now: number): Promise<boolean> =>
  database.write([
    {
      sql: 'update api_keys set revoked = $2 where key_id = $1 and revoked is null',
      values: [key_id, now],
      expect: 1,
    },
  ])

export type KnownKey = { key_id: string; account: Account }

/** The key_id of FARTHING_API_KEY, which has no row. */
export const CONFIGURED_KEY_ID = 'configured'

/** The bearer key with its account, or undefined; `configured` is the default account's fixed key. */
export async function findKey(
  database: Database,
  key: string,
  configured: string | undefined,
): Promise<KnownKey | undefined> {
  const hash = sha256(key)
  const isConfigured = configured !== undefined && timingSafeEqual(hash, sha256(configured))
  if (isConfigured) {
    const account = await accountOfName(database, DEFAULT_ACCOUNT)
    return account && { key_id: CONFIGURED_KEY_ID, account }
  }
  const [row] = await database.query<Account & { key_id: string }>(
    `select api_keys.key_id, ${COLUMNS} from api_keys join accounts on accounts.name = api_keys.account
     where api_keys.hash = $1 and api_keys.revoked is null`,
    [hash.toString('hex')],
  )
  if (!row) return undefined
  const { key_id, ...account } = row
  return { key_id, account }
}

/** The hash of the key with this identifier, in hexadecimal; undefined if there is none or it was revoked. */
export async function findLivingKey(
  database: Database,
  key_id: string,
  configured: string | undefined,
): Promise<{ hash: string; account: string } | undefined> {
  if (key_id === CONFIGURED_KEY_ID)
    return configured === undefined
      ? undefined
      : { hash: sha256(configured).toString('hex'), account: DEFAULT_ACCOUNT }
  const [key] = await database.query<{ hash: string; account: string }>(
    'select hash, account from api_keys where key_id = $1 and revoked is null',
    [key_id],
  )
  return key
}

export async function accountOfName(
  database: Database,
  name: string,
): Promise<Account | undefined> {
  const [account] = await database.query<Account>(
    `select ${COLUMNS} from accounts where name = $1`,
    [name],
  )
  return account
}

/** Moves the clock, unless another request moved it after `account` was read: then it returns false. */
export const moveClock = (
  database: Database,
  { name, clock_offset, frozen_at }: Account,
  moved: Account,
): Promise<boolean> =>
  database.write([
    {
      sql: `update accounts set clock_offset = $2, frozen_at = $3 where name = $1 and clock_offset = $4
            and frozen_at ${frozen_at === null ? 'is null' : '= $5'}`,
      values: [
        ...[name, moved.clock_offset, moved.frozen_at, clock_offset],
        ...(frozen_at === null ? [] : [frozen_at]),
      ],
      expect: 1,
    },
  ])

/** The account whose rows have this room; undefined when there is none. */
export async function accountOfRoom(
  database: Database,
  room: string,
): Promise<Account | undefined> {
  const [account] = await database.query<Account>(
    `select ${COLUMNS} from accounts where room = $1`,
    [room],
  )
  return account
}
