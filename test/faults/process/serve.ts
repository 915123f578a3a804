/** Farthing as a process of its own, with a key that its tests know. */
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { createClient } from '../../support/client.ts'
import { openAt } from '../../support/open-database.ts'
import { startProcess } from '../../support/process.ts'
import { checkInvariants, type Quiet } from '../invariants.ts'

export const KEY = 'key-of-the-default-account'

/** Settings of a service on this database. Its links stay the same after a restart on another port. */
export const settings = (DATABASE_URL: string, more: Record<string, string> = {}) => ({
  DATABASE_URL,
  FARTHING_API_KEY: KEY,
  FARTHING_BASE_URL: 'http://farthing.test',
  LOG_LEVEL: 'warn',
  ...more,
})

/** Starts a service that is killed after the test at the latest. */
export async function serve(
  t: TestContext,
  DATABASE_URL: string,
  more: Record<string, string> = {},
  wrapper: string[] = [],
) {
  const service = await startProcess({ env: settings(DATABASE_URL, more), wrapper })
  t.after(() => service.kill())
  return { service, api: createClient([service.baseUrl], KEY) }
}

export function countPayments(url: string): number {
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
  const row = database.prepare('select count(*) as n from payments').get()
  database.close()
  return Number(row?.n)
}

/** Opens a database to which nothing is being written, and checks the invariants of its rows. */
export async function checkRows(DATABASE_URL: string, quiet: Partial<Quiet> = {}): Promise<void> {
  const database = await openAt(DATABASE_URL)
  await checkInvariants(database, { now: Date.now(), ...quiet }).finally(() => database.close())
}
