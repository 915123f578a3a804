import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { insertPayment } from '../../../src/pay/payments/store.ts'
import { createClient } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { openAt } from '../../support/open-database.ts'
import { startProcess } from '../../support/process.ts'
import { samplePayment } from '../../support/sample-payment.ts'

const NINE_DAYS = 9 * 24 * 60 * 60 * 1000

test('a service that starts with a clock that is ahead deletes no payment, but the rooms that were left', async t => {
  const env = { DATABASE_URL: tempDatabase() }
  const database = await openAt(env.DATABASE_URL)
  const payment_id = createNewId()(Date.now() - NINE_DAYS)
  await database.write([insertPayment({ ...samplePayment('created'), payment_id })])
  const left = `insert into ended_rooms (room, account, since) values ('left', 'somebody', 0)`
  await database.write([{ sql: left, values: [] }])
  const rows = async (table: string) => (await database.query(`select 1 from ${table}`)).length

  const service = await startProcess({ env })
  t.after(async () => {
    await service.kill()
    await database.close()
  })
  while ((await rows('ended_rooms')) > 0) await pause(20)
  assert.deepEqual([await rows('payments'), await rows('payment_counts')], [1, 1])
})

test('in memory the rows of an ended account are deleted within seconds, so that they take no memory', async t => {
  const env = { DATABASE_URL: 'sqlite::memory:', FARTHING_CONTROL: 'true', PORT: '0' }
  const service = await startFarthing({ config: readConfig(env) })
  t.after(() => service.close())
  const { database } = service.ports
  const parent = createClient([service.url], service.apiKey)
  const { account, key } = (await parent.post('/control/accounts', {})).body
  await createClient([service.url], key).createPayment()
  const rows = async (table: string) =>
    (await database.query(`select 1 from ${table} where account = $1`, [`default/${account}`]))
      .length
  await service.app.recorder?.write()
  assert.deepEqual([await rows('payments'), await rows('exchanges')], [1, 1])

  await parent.delete(`/control/accounts/${account}`)
  while ((await rows('payments')) + (await rows('exchanges')) > 0) await pause(50)
  assert.equal(await rows('ended_rooms'), 1, 'what late requests still write is deleted later')
})
