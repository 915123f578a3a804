import { hash, timingSafeEqual } from 'node:crypto'
import {
  ACCOUNT_COLUMNS,
  type Account,
  accountIn,
  type Behaviour,
  DEFAULT_ACCOUNT,
  newAccount,
  roomOf,
  testAccountName,
} from '../../core/account.ts'
import { TEST_ACCOUNTS } from '../../core/budgets.ts'
import type { FixedKey } from '../../core/config.ts'
import { secrets as randomSecrets } from '../../core/ids.ts'
import type { Database, MachineTime, NewId, Secrets, Statement, Time } from '../../core/ports.ts'
import { DAY } from '../../core/time.ts'
import { countRows, findOne, type Part, type Range, where } from '../database/select.ts'
import type { LastPlan } from '../http/request-state.ts'

type ApiKey = {
  key_id: string
  account: string
  behaviour: Behaviour
  created: number
  revoked: number | null
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

type KeyPorts = { database: Database; time: Time; newId: NewId; secrets?: Secrets }

function makeKey({ time, newId, secrets = randomSecrets }: KeyPorts, account: string) {
  const created = time.wall()
  const key_id = newId(created, account)
  const key = `api_test_${secrets.secret(account)}${secrets.secret(account)}`
  const insert: Statement = {
    sql: 'insert into api_keys (key_id, account, hash, created) values ($1, $2, $3, $4)',
    values: [key_id, account, sha256(key).toString('hex'), created],
  }
  return { key_id, key, insert }
}

/** Makes a key, and its account if there is none. Keeps only the key's hash. Throws if the account has ended. */
export async function createKey(ports: KeyPorts, account: string, behaviour?: Behaviour) {
  const isNewAccount = (await accountOfName(ports.database, account)) === undefined
  const owner = await findOrMakeAccount(ports.database, account, behaviour)
  const { key_id, key, insert } = makeKey(ports, account)
  await ports.database.write([insert])
  return { key_id, key, behaviour: owner.behaviour, isNewAccount }
}

/** Throws if the account has ended. */
export async function findOrMakeAccount(database: Database, name: string, behaviour?: Behaviour) {
  await database.write([insertAccount(newAccount(name, behaviour))])
  const account = await accountOfName(database, name)
  if (!account) throw new Error(`the test account ${name} has ended: use another name`)
  return account
}

/** `rows`: a table with a condition. `room`: the room of a key, an expression in which `join` may name a table. */
type Keys = { rows: string; key: string; value: string; join?: string; room: string }

type FoundKey<Least> = (Account | { name: null }) & { id: string; least: Least }

/** The most keys that one query returns. */
const KEYS_AT_ONCE = 100

/**
 * The keys of a table in their order, each with the least value of its rows and its account, until `stop` is aborted. The
 * name is null where the account was reset or has ended. The query skips from key to key in an index: the number of rows
 * does not matter.
 */
export async function* findKeys<Least>(database: Database, keys: Keys, stop?: AbortSignal) {
  const { rows, key, value, join = '', room } = keys
  const sql = `with recursive found (id, number) as (
       select min(${key}), 1 from ${rows} and ${key} > $1
       union all
       select (select min(${key}) from ${rows} and ${key} > id), number + 1
       from found where id is not null and number < ${KEYS_AT_ONCE})
     select id, (select min(${value}) from ${rows} and ${key} = id) as least, ${ACCOUNT_COLUMNS}
     from found ${join} left join accounts on room = ${room} and ended = 0
     where id is not null order by id`
  for (let after: string | undefined = ''; after !== undefined && !stop?.aborted; ) {
    const found: FoundKey<Least>[] = await database.query(sql, [after])
    yield* found
    after = found.at(-1)?.id
  }
}

/** Changes nothing when the account exists. */
const insertAccount = (
  { name, room, clock_offset, frozen_at, parent, epoch, behaviour }: Account,
  expires: MachineTime | null = null,
): Statement => ({
  sql: `insert into accounts (${ACCOUNT_COLUMNS}, expires) values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict do nothing`,
  values: [name, room, clock_offset, frozen_at, parent, epoch, behaviour, expires],
})

/** All keys of accounts that have not ended, oldest first, without the keys themselves. */
export const listKeys = (database: Database): Promise<ApiKey[]> =>
  database.query<ApiKey>(
    `select key_id, account, behaviour, created, revoked from api_keys join accounts on accounts.name = api_keys.account
     where ended = 0 order by created, key_id`,
  )

/** Returns false when there is no such key or it was revoked before. */
export const revokeKey = (database: Database, key_id: string, now: MachineTime): Promise<boolean> =>
  database.write([
    {
      sql: 'update api_keys set revoked = $2 where key_id = $1 and revoked is null',
      values: [key_id, now],
      expect: 1,
    },
  ])

type KeyLookUp = {
  fixedKeys: readonly FixedKey[]
  at: MachineTime
  lastPlanSql?: string | undefined
}

export type KnownKey = { key_id: string; account: Account; lastPlan: LastPlan }

/** SQL: true if the account has neither ended nor expired at the parameter, in milliseconds of the machine's time. */
export const livesAt = (parameter: '$1' | '$2') =>
  `ended = 0 and (expires is null or expires > ${parameter})`

/**
 * The bearer key with its account, or undefined. `fixedKeys`: those of the settings. `at`: now. `lastPlanSql`: SQL for
 * the plan_id of the account's last plan, or null, so that one query reads both.
 */
export async function findKey(
  database: Database,
  key: string,
  { fixedKeys, at, lastPlanSql }: KeyLookUp,
): Promise<KnownKey | undefined> {
  const hash = sha256(key)
  const own = fixedKeys.find(fixed => timingSafeEqual(hash, Buffer.from(fixed.hash, 'hex')))
  const columns = lastPlanSql ? `${ACCOUNT_COLUMNS}, ${lastPlanSql} as last_plan` : ACCOUNT_COLUMNS
  const [row] = await database.query<Account & { key_id: string; last_plan?: string | null }>(
    own
      ? `select '${own.key_id}' as key_id, ${columns} from accounts where name = $1 and ended = 0`
      : `select api_keys.key_id, ${columns} from api_keys join accounts on accounts.name = api_keys.account
         where ${livesAt('$1')} and api_keys.hash = $2 and api_keys.revoked is null`,
    own ? [own.account] : [at, hash.toString('hex')],
  )
  if (!row) return undefined
  const { key_id, last_plan } = row
  const none = last_plan === null ? 'none' : 'unknown'
  return { key_id, account: accountIn(row), lastPlan: last_plan ? { plan_id: last_plan } : none }
}

/** The hash of the key with this identifier, in hexadecimal; undefined if there is none or it was revoked. */
export async function findLivingKey(
  database: Database,
  key_id: string,
  fixed: readonly FixedKey[],
): Promise<{ hash: string; account: string } | undefined> {
  const own = fixed.find(key => key.key_id === key_id)
  if (own) return own
  const [key] = await database.query<{ hash: string; account: string }>(
    `select hash, account from api_keys join accounts on accounts.name = api_keys.account
     where key_id = $1 and revoked is null and ended = 0`,
    [key_id],
  )
  return key
}

const accountRows = {
  from: 'accounts',
  columns: ACCOUNT_COLUMNS,
  id: 'name',
  fromRow: (row: Account) => row,
}

/** undefined when there is no such account, or it has ended. */
export const accountOfName = (database: Database, name: string) =>
  findOne(database, accountRows, where('name = ? and ended = 0', name))

/** undefined when the account of the room has ended, or was reset since. */
export const accountOfRoom = (database: Database, room: string) =>
  findOne(database, accountRows, where('room = ? and ended = 0', room))

/** Gives the default account this behaviour from now on, if there is such an account. */
export const setDefaultBehaviour = (database: Database, behaviour: Behaviour): Promise<boolean> =>
  database.write([
    {
      sql: 'update accounts set behaviour = $2 where name = $1 and behaviour <> $2',
      values: [DEFAULT_ACCOUNT, behaviour],
    },
  ])

/** Moves the clock, unless another request moved it, or reset the account, since it was read: then it returns false. */
export const moveClock = (
  database: Database,
  { room, clock_offset, frozen_at }: Account,
  moved: Account,
): Promise<boolean> =>
  database.write([
    {
      sql: `update accounts set clock_offset = $2, frozen_at = $3 where room = $1 and clock_offset = $4
            and frozen_at is not distinct from cast($5 as bigint)`,
      values: [room, moved.clock_offset, moved.frozen_at, clock_offset, frozen_at],
      expect: 1,
    },
  ])

/** Milliseconds on the machine's clock until a test account's keys stop working and its rows are deleted. */
export const TEST_ACCOUNT_LIVES = 7 * DAY

/** Resolves undefined when the parent has used the name, also if that account expired within a day. */
export async function createTestAccount(ports: KeyPorts, account: Account) {
  const { key, insert } = makeKey(ports, account.name)
  const expires: MachineTime = ports.time.wall() + TEST_ACCOUNT_LIVES
  const insertion = { ...insertAccount(account, expires), expect: 1 as const }
  return (await ports.database.write([insertion, insert])) ? { key, expires } : undefined
}

export type TestAccount = Account & { expires: MachineTime }

/** The place of a test account in the list of all, for `before` and `after`. */
export const placeOf = ({ expires, name }: TestAccount): string => `${expires} ${name}`

/** The test accounts of `parent` that have not ended. `before` or `after` is a place, exclusive. */
export function testAccountsOf(
  database: Database,
  { parent, now, before, after }: { parent: string; now: MachineTime } & Range,
  { limit, order }: Part,
): Promise<TestAccount[]> {
  const [, expires, name] = /^(\d{1,15}) (.+)$/.exec(before ?? after ?? '') ?? []
  const beyond = `and (expires, name) ${before === undefined ? '>' : '<'} ($3, $4)`
  const direction = order === 'newest' ? 'desc' : 'asc'
  return database.query<TestAccount>(
    `select ${ACCOUNT_COLUMNS}, expires from accounts where parent = $2 and ${livesAt('$1')} ${name === undefined ? '' : beyond}
     order by expires ${direction}, name ${direction} limit ${limit}`,
    [now, parent, ...(name === undefined ? [] : [Number(expires), name])],
  )
}

/** Test accounts that have ended or expired, newest first. `since` is null once an account's rows are deleted. */
export function endedTestAccounts(
  database: Database,
  { parent, now }: { parent: string; now: MachineTime },
  limit: number,
): Promise<{ name: string; since: number | null }[]> {
  const newest = `order by expires desc, name limit ${limit}`
  // Each condition has an index of its own.
  const [ended, expired] = ['ended = 1', 'ended = 0 and expires <= $1'].map(
    condition =>
      `select * from (select name, ended, expires from accounts where parent = $2 and ${condition} ${newest}) part`,
  )
  return database.query(
    `select name, case when ended = 0 then expires
       else (select max(since) from ended_rooms where ended_rooms.account = listed.name) end as since
     from (${ended} union all ${expired}) listed ${newest}`,
    [now, parent],
  )
}

export async function hasAllTestAccounts(database: Database, parent: string, now: MachineTime) {
  const last = await database.query(
    `select name from accounts where parent = $2 and ${livesAt('$1')} limit 1 offset ${TEST_ACCOUNTS - 1}`,
    [now, parent],
  )
  return last.length > 0
}

export async function findTestAccount(database: Database, parent: string, name: string) {
  const [found] = await database.query<TestAccount & { ended: number }>(
    `select ${ACCOUNT_COLUMNS}, ended, expires from accounts where name = $1 and parent = $2`,
    [testAccountName(parent, name), parent],
  )
  return found
}

/** An account that has ended, in its last room; undefined once the rows of that room are deleted. */
export async function accountBeforeEnd(database: Database, account: Account) {
  const [ended] = await database.query<{ room: string }>(
    'select room from ended_rooms where account = $1 order by since desc limit 1',
    [account.name],
  )
  return ended && { ...account, ...ended, epoch: account.epoch - 1 }
}

/** Gives the account a new, empty room, or ends the account. Undefined when another request did either meanwhile. */
export async function leaveRoom(
  database: Database,
  account: Account,
  next: Pick<Account, 'clock_offset' | 'frozen_at' | 'behaviour'> & { ended?: 1 },
  now: MachineTime,
): Promise<Account | undefined> {
  const { name, room, epoch } = account
  const { clock_offset, frozen_at, behaviour, ended = 0 } = next
  const moved = { epoch: epoch + 1, room: roomOf(name, epoch + 1) }
  const after = { ...account, ...moved, clock_offset, frozen_at, behaviour }
  const written = await database.write([
    {
      sql: `update accounts set room = $3, epoch = $4, clock_offset = $5, frozen_at = $6, ended = $7, behaviour = $8
            where name = $1 and epoch = $2 and ended = 0`,
      values: [name, epoch, after.room, after.epoch, clock_offset, frozen_at, ended, behaviour],
      expect: 1,
    },
    {
      sql: `update webhooks set status = 'INACTIVE' where account = $1 and status = 'ACTIVE'`,
      values: [room],
    },
    {
      sql: 'insert into ended_rooms (room, account, since) values ($1, $2, $3)',
      values: [room, name, now],
    },
  ])
  return written ? after : undefined
}

export const countMovedClocks = (database: Database): Promise<number> =>
  countRows(
    database,
    where('accounts where ended = 0 and (frozen_at is not null or clock_offset <> 0)'),
  )
