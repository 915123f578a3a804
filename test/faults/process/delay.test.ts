import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendUnchecked, webPayment } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { KEY, serve } from './serve.ts'

test('a kill while a plan holds a request leaves nothing of it before its handler, and everything after it', async t => {
  const url = tempDatabase()
  const start = async () => (await serve(t, url, { FARTHING_CONTROL: 'true' })).service
  const first = await start()
  const ask = (base: string, method: string, path: string, json?: object) =>
    sendUnchecked(base + path, { key: KEY, method, ...(json && { json }) })
  for (const when of ['before', 'after'])
    await ask(first.baseUrl, 'POST', '/control/plans', { on: 'createPayment', when, delay: 60_000 })
  const create = (reference: string) =>
    assert.rejects(ask(first.baseUrl, 'POST', '/v1/payments', { ...webPayment, reference }))
  const acted = async () => {
    const { body } = await ask(first.baseUrl, 'GET', '/control/plans')
    return body.results.filter((plan: { acted: number }) => plan.acted === 1).length
  }
  const held = [create('BEFORE')]
  while ((await acted()) < 1);
  held.push(create('AFTER'))
  while ((await ask(first.baseUrl, 'GET', '/v1/payments')).body.total < 1);
  await first.kill()
  await Promise.all(held)
  const second = await start()
  const { body } = await ask(second.baseUrl, 'GET', '/v1/payments')
  const references = body.results.map(({ reference }: { reference: string }) => reference)
  assert.deepEqual(references, ['AFTER'])
  const plans = (await ask(second.baseUrl, 'GET', '/control/plans')).body.results
  const counts = plans.map(({ acted }: { acted: number }) => acted)
  assert.deepEqual(counts, [1, 1])
})
