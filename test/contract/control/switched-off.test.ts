import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { createClient, webPayment } from '../../support/client.ts'
import { ask, made } from '../../support/control.ts'
import { tempDatabase } from '../../support/folders.ts'
import { authorise, payOnPages, read } from '../../support/journeys.ts'
import { watched } from '../../support/watched.ts'

/** What is done at intervals, whatever is asked: look up the key, write the record. */
const atIntervals = /from accounts where name|^write insert into exchanges/

/** A service whose queries and writes are listed, with the first words of each statement. */
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
      database: watched(real.database, (statements, kind) => {
        const texts = statements.map(({ sql }) => sql).join('; ')
        seen.push(kind === 'write' ? `write ${texts}` : texts)
      }),
    }),
  })
  const api = createClient([farthing.url], KEY)
  const during = async <Result>(work: () => Promise<Result>) => {
    seen.length = 0
    const result = await work()
    return { result, statements: seen.filter(sql => !atIntervals.test(sql)) }
  }
  return { farthing, api, during }
}

test('without control there is no route, no hook and no query more', async t => {
  const { farthing, api, during } = await listed({})
  t.after(() => farthing.close())
  const count = async (work: () => Promise<unknown>) => (await during(work)).statements.length
  const payment = await api.createPayment()
  assert.equal(await count(() => api.createPayment()), 1)
  assert.equal(await count(() => api.get(payment._links.self.href)), 1)
  assert.equal(await count(() => api.get('/secure/none')), 0)
  const opened = await during(() => api.get(payment._links.next_url.href))
  assert.deepEqual(
    opened.statements.map(sql => /^(\w+)/.exec(sql)?.[1]),
    ['select', 'write'],
  )
  const { statements } = await during(() => payOnPages(api, payment))
  assert.ok(![...opened.statements, ...statements].some(sql => /\bplans\b/.test(sql)))
  for (const path of ['/control', '/control/clock', '/control/openapi.json', '/console'])
    assert.equal((await api.get(path)).status, 404, path)
})

test('a reset writes as many rows with many payments as with none', async t => {
  const { farthing, api, during } = await listed({ FARTHING_CONTROL: 'true' })
  t.after(() => farthing.close())
  const reset = () => api.request('POST', '/control/reset').catch(() => undefined)
  const plain = (statements: string[]) => statements.map(sql => sql.replaceAll(/\s+/g, ' '))
  const empty = await during(reset)
  for (let i = 0; i < 60; i++) await api.post('/v1/payments', webPayment)
  const full = await during(reset)
  assert.deepEqual(plain(full.statements), plain(empty.statements))
  assert.equal(full.statements.filter(sql => sql.startsWith('write')).length, 1)
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
      await made(
        ask(
          { apps: [before.farthing.app], baseUrls: [before.farthing.url] },
          before.api,
          'plans',
          plan,
        ),
      )
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
