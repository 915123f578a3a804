import { createHash, timingSafeEqual } from 'node:crypto'
import { newSecret } from '../ids.ts'
import type { Clock, Database, NewId } from '../ports.ts'

export const DEFAULT_ACCOUNT = 'default'

/** Names are shown in lists, so they hold no control characters and do not begin with a space. */
const ACCOUNT = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/

export const isAccountName = (name: string): boolean => ACCOUNT.test(name)

export type ApiKey = { key_id: string; account: string; created: number; revoked: number | null }

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Makes a key of the account. Only its hash is stored, so the key cannot be shown again. */
export async function createKey(
  ports: { database: Database; clock: Clock; newId: NewId },
  account: string,
): Promise<{ key_id: string; key: string }> {
  const now = ports.clock()
  const key_id = ports.newId(now)
  const key = `api_test_${newSecret()}${newSecret()}`
  await ports.database.write([
    {
      sql: 'insert into api_keys (key_id, account, hash, created) values ($1, $2, $3, $4)',
      values: [key_id, account, sha256(key).toString('hex'), now],
    },
  ])
  return { key_id, key }
}

/** All keys, oldest first, without the keys themselves. */
export const listKeys = (database: Database): Promise<ApiKey[]> =>
  database.query<ApiKey>(
    'select key_id, account, created, revoked from api_keys order by created, key_id',
  )

/** Returns false if there is no such key or it was revoked before. */
export const revokeKey = (database: Database, key_id: string, now: number): Promise<boolean> =>
  database.write([
    {
      sql: 'update api_keys set revoked = $2 where key_id = $1 and revoked is null',
      values: [key_id, now],
      expect: 1,
    },
  ])

/** Returns the account of a bearer key, or undefined. `configured` is the fixed key of the default account. */
export async function accountOfKey(
  database: Database,
  key: string,
  configured: string | undefined,
): Promise<string | undefined> {
  const hash = sha256(key)
  if (configured !== undefined && timingSafeEqual(hash, sha256(configured))) return DEFAULT_ACCOUNT
  const rows = await database.query<{ account: string }>(
    'select account from api_keys where hash = $1 and revoked is null',
    [hash.toString('hex')],
  )
  return rows[0]?.account
}
