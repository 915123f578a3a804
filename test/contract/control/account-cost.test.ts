import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../src/app/config.ts'
import { deleteEndedRooms, endExpiredAccounts } from '../../../src/app/ended-rooms-store.ts'
import { startFarthing } from '../../../src/app/start.ts'
import type { Database, Statement } from '../../../src/core/ports.ts'
import { createClient } from '../../support/client.ts'
import { signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { watched } from '../../support/watched.ts'

const KEY = 'a-key-of-this-test'
/** Steps of a plan that read the accounts which they look for, and no others. */
const BY_INDEX = /\(name=\?|accounts_(living|ended) \(parent=\?|accounts_by_expiry \(expires/
const EIGHT_DAYS = 8 * 24 * 60 * 60 * 1000

test('making, listing, ending and sweeping test accounts does not read all ended ones', async t => {
  const seen = new Map<string, Statement>()
  let database: Database | undefined
  const farthing = await startFarthing({
    config: readConfig({
      PORT: '0',
      DATABASE_URL: 'sqlite::memory:',
      FARTHING_API_KEY: KEY,
      FARTHING_CONTROL: 'true',
    }),
    backgroundWork: false,
    ports: real => {
      database = watched(real.database, statements => {
        for (const statement of statements) seen.set(statement.sql, statement)
      })
      return { ...real, database }
    },
  })
  t.after(() => farthing.close())
  assert.ok(database)
  const service = { apps: [farthing.app], baseUrl: farthing.url, baseUrls: [farthing.url] }
  const api = createClient([farthing.url], KEY)

  const { body } = await ask(service, api, 'accounts', {})
  await ask(service, api, 'accounts')
  await ask(service, api, `accounts/${body.account}`, undefined, 'DELETE')
  await (await signIn(service, api)).get('accounts')
  const later = Date.now() + EIGHT_DAYS
  await endExpiredAccounts(database, later)
  await deleteEndedRooms(database, later)

  let reads = 0
  for (const { sql, values } of [...seen.values()]) {
    const plan = await database.query<{ detail: string }>(`explain query plan ${sql}`, values)
    for (const { detail } of plan.filter(step => / accounts\b/.test(step.detail))) {
      assert.match(detail, BY_INDEX, sql)
      reads++
    }
  }
  assert.ok(reads >= 10, `only ${reads} steps read accounts`)
})
