import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { givenName } from '../../src/core/account.ts'
import { accountBeforeEnd, findKey, findTestAccount } from '../../src/platform/accounts/store.ts'
import { createClient, sendUnchecked, webPayment } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import { copyMigratedDatabase } from '../support/postgres.ts'

const KEY = 'key-of-the-default-account'

const MIGRATION = '../../src/platform/database/migrations/0019-names-of-test-accounts.sql'

/** Undoes every migration since behaviours. */
const BEFORE_BEHAVIOURS = [
  'drop index exchanges_accepted_by_hand',
  'drop index webhooks_active',
  'drop index api_keys_by_account',
  'alter table exchanges drop column method',
  'alter table exchanges drop column broken',
  'alter table exchanges drop column by_hand',
  'drop index webhook_messages_by_due',
  'drop index webhook_messages_unsent',
  `create index webhook_messages_pending on webhook_messages (webhook_id, message_id) where status = 'PENDING'`,
  'alter table webhook_messages drop column due_at',
  'alter table webhook_messages drop column sent_as',
  'alter table payments drop column passed',
  'drop index payments_by_due',
  'alter table payments drop column due_at',
  'alter table refunds drop column ended_at',
  'alter table accounts drop column behaviour',
  'delete from migrations where number >= 19',
]

const sqlite = async () => tempDatabase()
const kinds = Object.entries({ SQLite: sqlite, PostgreSQL: copyMigratedDatabase })

for (const [kind, newDatabase] of kinds)
  test(`Payments and accounts of an earlier version behave as the specification says on ${kind}, but the default account as the start does`, async t => {
    const DATABASE_URL = await newDatabase()
    const KEYS = 'team=key-of-the-team-account'
    const env = { PORT: '0', DATABASE_URL, FARTHING_API_KEY: KEY, FARTHING_API_KEYS: KEYS }
    const start = (more = {}) =>
      startFarthing({ config: readConfig({ ...env, ...more }), onFatal: assert.ifError })
    const first = await start()
    const made = await createClient([first.url], KEY).createPayment()
    await first.close()
    const database = await openAt(DATABASE_URL)
    const message = (id: string, result: string) =>
      `insert into webhook_messages
         (message_id, webhook_id, payment_id, event_type, created, status, attempts, claimed_until, body)
       values ('${id}', 'w', '${made.payment_id}', 'card_payment_failed', 1, 'FAILED',
         '[{"status":"FAILED","status_code":null,"response_time":null,"result":"${result}","at":1}]', 0, '{}')`
    for (const sql of [message('1', 'nobody is listening'), message('2', 'timeout')])
      await database.write([{ sql, values: [] }])
    for (const sql of BEFORE_BEHAVIOURS) await database.write([{ sql, values: [] }])
    await database.close()

    const next = await start({ FARTHING_BEHAVIOUR: 'govuk-pay' })
    t.after(() => next.close())
    const migrated = await openAt(DATABASE_URL)
    t.after(() => migrated.close())
    assert.deepEqual(
      await migrated.query('select status from webhook_messages order by message_id', []),
      [{ status: 'not listening' }, { status: 'FAILED' }],
    )
    const api = createClient([next.url], KEY, 'govuk-pay')
    const url = `${next.url}/v1/payments/${made.payment_id}`
    const { _links, ...payment } = (await sendUnchecked(url, { key: KEY })).body
    const { _links: before, ...same } = made
    assert.deepEqual(payment, same)
    assert.deepEqual(Object.keys(_links), Object.keys(before), 'no link is null')
    const free = { ...webPayment, amount: 0 }
    assert.equal((await api.post('/v1/payments', free)).body.code, 'P0102')
    const team = createClient([next.url], 'key-of-the-team-account')
    assert.equal((await team.post('/v1/payments', free)).status, 201)
  })

test('A payment is found for as long as the lists of its account have it, whichever behaviour that has by now', async t => {
  const env = { DATABASE_URL: tempDatabase(), FARTHING_API_KEY: KEY, FARTHING_CONTROL: 'true' }
  let id = ''
  const seen: unknown[] = []
  for (const behaviour of ['specification', 'govuk-pay', 'specification'] as const) {
    const config = readConfig({ ...env, PORT: '0', FARTHING_BEHAVIOUR: behaviour })
    const farthing = await startFarthing({ config, onFatal: assert.ifError })
    t.after(() => farthing.close())
    const api = createClient([farthing.url], KEY, 'unchecked')
    if (!id) {
      id = (await api.createPayment()).payment_id
      await api.advance(8 * 86_400_000)
    }
    seen.push([
      (await api.get(`/v1/payments/${id}`)).status,
      (await api.get('/v1/payments')).body.total,
    ])
    await farthing.close()
  }
  assert.deepEqual(seen, [
    [404, 0],
    [200, 1],
    [404, 0],
  ])
})

for (const [kind, newDatabase] of kinds)
  test(`Test accounts of an earlier version keep their names, keys and rooms on ${kind}`, async t => {
    const database = await openAt(await newDatabase())
    t.after(() => database.close())
    const run = (...texts: string[]) => database.write(texts.map(sql => ({ sql, values: [] })))
    await run(
      `insert into accounts (name, room, clock_offset, frozen_at, parent, epoch, expires, ended) values
         ('team', 'team', 0, null, null, 0, null, 0),
         ('checkout', 'checkout#1', 0, null, 'team', 1, 9000, 0),
         ('over', 'over#1', 0, null, 'team', 1, 9000, 1)`,
      `insert into ended_rooms (room, account, since) values
         ('checkout', 'checkout', 1), ('over', 'over', 2)`,
      `insert into api_keys (key_id, account, hash, created) values
         ('k1', 'team', '${hash('sha256', 'of the team')}', 1),
         ('k2', 'checkout', '${hash('sha256', 'of checkout')}', 1)`,
    )
    const sql = readFileSync(new URL(MIGRATION, import.meta.url), 'utf8').replace(/^--.*$/gm, '')
    await run(...sql.split(';').filter(text => text.trim() !== ''))

    const roomOfKey = async (key: string) =>
      (await findKey(database, key, { fixedKeys: [], at: 5 }))?.account.room
    assert.equal(await roomOfKey('of the team'), 'team')
    assert.equal(await roomOfKey('of checkout'), 'checkout#1')
    const found = await findTestAccount(database, 'team', 'checkout')
    assert.deepEqual([found && givenName(found), found?.room], ['checkout', 'checkout#1'])
    const over = await findTestAccount(database, 'team', 'over')
    assert.ok(over)
    assert.equal((await accountBeforeEnd(database, over))?.room, 'over')
  })
