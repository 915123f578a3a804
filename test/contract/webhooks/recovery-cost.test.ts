import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Statement, Value } from '../../../src/core/ports.ts'
import { holdSends } from '../../support/held-send.ts'
import { startService } from '../../support/service.ts'
import { cancelOne } from './payment-changes.ts'

test('Looking for unsent messages reads no history: it happens every few seconds', async t => {
  const held = holdSends()
  const service = await startService('sqlite', { send: held.send })
  const api = await service.newAccount()
  await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.com/' })
  const request = cancelOne(api)
  t.after(async () => {
    held.endAll(200)
    await request
    await service.stop()
  })
  await held.next()
  service.clock.advance(60_000)

  const { database } = service
  const query = database.query.bind(database)
  const write = database.write.bind(database)
  const seen = new Map<string, Value[]>()
  const queries = t.mock.method(database, 'query', (sql: string, values: Value[] = []) => {
    seen.set(sql, values)
    return query(sql, values)
  })
  const writes = t.mock.method(database, 'write', (statements: Statement[]) => {
    for (const { sql, values } of statements) seen.set(sql, values)
    return write(statements)
  })
  for (const { deliveries } of service.apps) void deliveries.recover()
  await held.next()
  queries.mock.restore()
  writes.mock.restore()

  assert.ok(seen.size >= 4, 'two searches, a claim and the message itself')
  for (const [sql, values] of seen) {
    const plan = await query<{ detail: string }>(`explain query plan ${sql}`, values)
    for (const { detail } of plan.filter(step => / (m|webhook_messages) /.test(step.detail)))
      assert.match(detail, /webhook_messages_pending|\(message_id=\?\)/, sql)
  }
})
