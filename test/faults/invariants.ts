/**
 * Checks the invariants of docs/notes/reliability.md, by their numbers there, on a database without writes. Tests that
 * send requests check the invariants that rows cannot show.
 */

import { ROOM_TABLES } from '../../src/app/ended-rooms-store.ts'
import { idFloor } from '../../src/core/ids.ts'
import type { Database } from '../../src/core/ports.ts'
import { oldestKept } from '../../src/pay/retention.ts'
import { agreementProblems } from './invariants-agreements.ts'
import { messageProblems } from './invariants-messages.ts'
import { paymentProblems } from './invariants-payments.ts'
import type { Rows } from './rows.ts'

export type Quiet = {
  /** The service's time in milliseconds. Payments that are gone by then are not checked. */
  now: number
  /** Only rows made at this time or later are checked, in milliseconds. */
  since?: number
  /** No delivery was cut off, so no message may be PENDING. */
  settled?: boolean
  /** The record of requests was damaged on purpose, so it is neither read nor checked. */
  damagedRecord?: boolean
}

const MOST_PROBLEMS = 20

/** Throws one error that lists the broken invariants, one per line. */
export async function checkInvariants(database: Database, quiet: Quiet): Promise<void> {
  const problems = [
    ...(await damage(database, quiet)),
    ...problemsOf(await readRows(database, quiet), quiet),
  ]
  if (problems.length === 0) return
  const shown = problems.slice(0, MOST_PROBLEMS)
  throw new Error(`${problems.length} invariants are broken:\n${shown.join('\n')}`)
}

export const problemsOf = (rows: Rows, quiet: Quiet): string[] => [
  ...paymentProblems(rows),
  ...agreementProblems(rows),
  ...messageProblems(rows, quiet),
  ...causeProblems(rows),
]

export async function readRows(
  database: Database,
  { now, since = 0, damagedRecord }: Quiet,
): Promise<Rows> {
  const made = idFloor(since)
  const kept = [made, oldestKept(now, 'specification')].sort().at(-1) ?? made
  return {
    since,
    kept,
    payments: await read(database, 'payments', 'payment_id', kept),
    refunds: await read(database, 'refunds', 'payment_id', kept),
    keys: await read(database, 'idempotency_keys', 'payment_id', kept),
    agreements: await read(database, 'agreements', 'agreement_id', made),
    webhooks: await read(database, 'webhooks', 'webhook_id', made),
    messages: await read(database, 'webhook_messages', 'payment_id', kept),
    exchanges: damagedRecord ? [] : await read(database, 'exchanges', 'payment_id', kept),
  }
}

/** Rows per statement; more than one payment has in any table. */
const AT_ONCE = 5_000
const JSON_COLUMNS = ['body', 'attempts']

/** The rows from an identifier on. `Row` has the columns of the table. */
async function read<Row>(
  database: Database,
  table: string,
  column: string,
  from: string,
): Promise<Row[]> {
  const all: Record<string, unknown>[] = []
  for (let next: string | undefined = from; next !== undefined; ) {
    const rows: Record<string, unknown>[] = await database.query(
      `select * from ${table} where ${column} >= $1 order by ${column} limit ${AT_ONCE}`,
      [next],
    )
    const last = String(rows.at(-1)?.[column])
    next = rows.length === AT_ONCE ? last : undefined
    all.push(...(next === undefined ? rows : rows.filter(row => row[column] !== last)))
  }
  for (const row of all)
    for (const name of JSON_COLUMNS)
      if (typeof row[name] === 'string') row[name] = JSON.parse(row[name])
  return all as Row[]
}

type Check = { integrity_check: string }

/** I20: SQLite's own checks of the file. PostgreSQL has no such check. */
async function damage(database: Database, { damagedRecord }: Quiet): Promise<string[]> {
  const isSqlite = await database.query('select sqlite_version()').then(Boolean, () => false)
  if (!isSqlite) return []
  const all = Object.keys(ROOM_TABLES)
  const tables = damagedRecord ? all.filter(table => table !== 'exchanges') : ['']
  const integrity: Check[] = []
  for (const table of tables)
    integrity.push(
      ...(await database.query<Check>(`pragma integrity_check${table && `(${table})`}`)),
    )
  const orphans = await database.query('pragma foreign_key_check')
  return [
    ...integrity.map(row => row.integrity_check).filter(text => text !== 'ok'),
    ...orphans.map(row => JSON.stringify(row)),
  ].map(text => `I20 ${text}`)
}

/** I22: an event or a message has at most one cause. It has none if its request was not recorded. */
function causeProblems({ exchanges, payments }: Rows): string[] {
  const events = new Map(payments.map(each => [each.payment_id, each.body.events.length]))
  const causes = new Map<string, string>()
  return exchanges.flatMap(({ exchange_id, payment_id, body: { caused } }) => {
    const positions = caused?.events ?? []
    const problems = positions
      .filter(position => position >= (events.get(payment_id) ?? 0))
      .map(position => `I22 ${exchange_id}: ${payment_id} has no event ${position}`)
    for (const effect of [
      ...positions.map(position => `event ${position} of ${payment_id}`),
      ...(caused?.messages ?? []),
    ]) {
      const other = causes.get(effect)
      if (other) problems.push(`I22 ${exchange_id} and ${other} caused ${effect}`)
      causes.set(effect, exchange_id)
    }
    return problems
  })
}
