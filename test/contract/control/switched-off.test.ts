import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClient, webPayment } from '../../support/client.ts'
import { ask, made } from '../../support/control.ts'
import { tempDatabase } from '../../support/folders.ts'
import { authorise, payOnPages, read } from '../../support/journeys.ts'
import { type ServiceOptions, startService } from '../../support/service.ts'
import { watched } from '../../support/watched.ts'

/** A service that lists its queries, and its writes with their number of statements, without those of the record. */
async function listed(t: TestContext, options: ServiceOptions = {}) {
  const seen: string[] = []
  const service = await startService('sqlite', {
    ...options,
    env: { FARTHING_CONSOLE: 'false', ...options.env },
    ports: real => ({
      database: watched(real.database, (statements, kind) => {
        if (statements.some(({ ofRecord }) => ofRecord)) return
        seen.push(kind === 'write' ? `write ${statements.length}` : kind)
      }),
    }),
  })
  t.after(() => service.stop())
  const during = async (work: () => Promise<unknown>) => {
    seen.length = 0
    await work()
    return [...seen]
  }
  return { service, api: await service.newAccount(), during }
}

test('without control there is no route, no hook and no query more', async t => {
  const { service, api, during } = await listed(t)
  await service.database.write([{ sql: 'drop table plans', values: [] }])
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
  const { api, during } = await listed(t, { control: true })
  const reset = () => api.request('POST', '/control/reset').catch(() => undefined)
  const empty = await during(reset)
  for (let i = 0; i < 60; i++) await api.post('/v1/payments', webPayment)
  const full = await during(reset)
  assert.deepEqual(full, empty)
  assert.equal(full.filter(each => each.startsWith('write')).length, 1)
  assert.equal((await api.get('/v1/payments')).body.total, 0)
})

test('without control a payment ends as its user says, whatever a plan stored with it', async t => {
  const env = { DATABASE_URL: tempDatabase() }
  const before = await listed(t, { control: true, env })
  const planned = []
  for (const scenario of ['declined', 'error'])
    for (const authorisation_mode of ['web', 'moto_api'] as const) {
      await made(ask(before.service, before.api, 'plans', { scenario }))
      planned.push(await before.api.createPayment({ authorisation_mode }))
    }
  await before.service.stop()
  const { service } = await listed(t, { env })
  const api = createClient(service.baseUrls, before.api.key)
  for (const { payment_id } of planned) {
    const payment = await read(api, { payment_id })
    if (payment.authorisation_mode === 'web') {
      assert.equal((await api.get(payment._links.next_url.href)).status, 200)
      await payOnPages(api, payment)
    } else assert.equal((await authorise(api, payment)).status, 204)
    assert.equal((await read(api, payment)).state.status, 'success')
  }
})
