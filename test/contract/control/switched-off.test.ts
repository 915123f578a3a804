import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { createTime } from '../../../src/core/time.ts'
import { createClient, webPayment } from '../../support/client.ts'
import { ask, made } from '../../support/control.ts'
import { tempDatabase } from '../../support/folders.ts'
import { authorise, payOnPages, read } from '../../support/journeys.ts'
import { START } from '../../support/service.ts'
import { watched } from '../../support/watched.ts'

/**
 * A service whose queries and writes are listed, these with the number of their statements, but for those of the record.
 * Its time stands still, so that no key is looked up again.
 */
async function listed(env: Record<string, string>) {
  const seen: string[] = []
  const KEY = 'a-key-of-this-test'
  const farthing = await startFarthing({
    config: readConfig({
      PORT: '0',
      DATABASE_URL: 'sqlite::memory:',
      FARTHING_API_KEY: KEY,
      FARTHING_CONSOLE: 'false',
      ...env,
    }),
    backgroundWork: false,
    ports: real => ({
      ...real,
      time: createTime(() => START),
      database: watched(real.database, (statements, kind) => {
        if (statements.some(({ ofRecord }) => ofRecord)) return
        seen.push(kind === 'write' ? `write ${statements.length}` : kind)
      }),
    }),
  })
  const api = createClient([farthing.url], KEY)
  const during = async (work: () => Promise<unknown>) => {
    seen.length = 0
    await work()
    return [...seen]
  }
  return { farthing, api, during }
}

test('without control there is no route, no hook and no query more', async t => {
  const { farthing, api, during } = await listed({})
  t.after(() => farthing.close())
  await farthing.ports.database.write([{ sql: 'drop table plans', values: [] }])
  const payment = await api.createPayment()
  assert.deepEqual(await during(() => api.createPayment()), ['write 1'])
  assert.deepEqual(await during(() => api.get(payment._links.self.href)), ['query'])
  assert.deepEqual(await during(() => api.get('/secure/none')), [])
  const opened = await during(() => api.get(payment._links.next_url.href))
  assert.deepEqual(opened, ['query', 'write 1'])
  await payOnPages(api, payment)
  for (const path of ['/control', '/control/clock', '/control/openapi.json', '/console'])
    assert.equal((await api.get(path)).status, 404, path)
})

test('a reset writes as many rows with many payments as with none', async t => {
  const { farthing, api, during } = await listed({ FARTHING_CONTROL: 'true' })
  t.after(() => farthing.close())
  const reset = () => api.request('POST', '/control/reset').catch(() => undefined)
  const empty = await during(reset)
  for (let i = 0; i < 60; i++) await api.post('/v1/payments', webPayment)
  const full = await during(reset)
  assert.deepEqual(full, empty)
  assert.equal(full.filter(each => each.startsWith('write')).length, 1)
  assert.equal((await api.get('/v1/payments')).body.total, 0)
})

test('without control a payment ends as its user says, whatever a plan stored with it', async t => {
  const DATABASE_URL = tempDatabase()
  const plans = [{ scenario: 'declined' }, { scenario: 'error' }]
  const before = await listed({ DATABASE_URL, FARTHING_CONTROL: 'true' })
  t.after(() => before.farthing.close())
  const planned = []
  for (const plan of plans)
    for (const authorisation_mode of ['web', 'moto_api'] as const) {
      const { app, url } = before.farthing
      await made(ask({ apps: [app], baseUrls: [url] }, before.api, 'plans', plan))
      planned.push(await before.api.createPayment({ authorisation_mode }))
    }
  await before.farthing.close()

  const { farthing, api } = await listed({ DATABASE_URL })
  t.after(() => farthing.close())
  for (const { payment_id } of planned) {
    const payment = await read(api, { payment_id })
    if (payment.authorisation_mode === 'web') {
      assert.equal((await api.get(payment._links.next_url.href)).status, 200)
      await payOnPages(api, payment)
    } else assert.equal((await authorise(api, payment)).status, 204)
    assert.equal((await read(api, payment)).state.status, 'success')
  }
})
