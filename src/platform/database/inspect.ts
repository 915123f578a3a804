import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { DatabaseAddress } from '../../core/config.ts'
import { newestMigration } from './migrate.ts'
import { LONGEST_WAIT } from './sqlite/connection.ts'
import { refuseSpecial } from './sqlite/file.ts'

type Inspection = {
  /** The migration that it has, and that of this Farthing. */
  has: number
  knows: number
  /** The bytes of the write-ahead log of an SQLite file. */
  walBytes: number
  /** Whether a key with this hash works there. */
  hasKey: boolean
}

/** Milliseconds. */
const CONNECT_TIMEOUT = 5_000

const MIGRATION = 'select max(number) as number from migrations'
const KEY = 'select key_id from api_keys where hash = $1 and revoked is null'

/** Looks at a database without changing it. The SQLite file must exist. Throws if it cannot be read. */
export async function inspectDatabase(
  address: DatabaseAddress,
  keyHash: string,
): Promise<Inspection> {
  const knows = newestMigration()
  if (address.kind === 'sqlite') {
    refuseSpecial(address.path)
    const database = new DatabaseSync(address.path, { readOnly: true, timeout: LONGEST_WAIT })
    try {
      const has = Number(database.prepare(MIGRATION).get()?.number)
      const hasKey = database.prepare(KEY).get({ $1: keyHash }) !== undefined
      return { has, knows, hasKey, walBytes: sizeOf(`${address.path}-wal`) }
    } finally {
      database.close()
    }
  }
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: address.url,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
  })
  await client.connect()
  try {
    const { rows } = await client.query(MIGRATION)
    const keys = await client.query(KEY, [keyHash])
    return { has: Number(rows[0]?.number), knows, hasKey: keys.rows.length > 0, walBytes: 0 }
  } finally {
    await client.end()
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
