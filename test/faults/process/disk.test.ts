import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, webPayment } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { startService } from '../../support/service.ts'
import { serve } from './serve.ts'

test('While the disk is full writes are 500, reads are 200, and readiness is 503 until there is room', async t => {
  // A write of the record could share a transaction with a write of the test, and fail with it.
  const service = await startService('sqlite', { env: { FARTHING_CONSOLE: 'false' } })
  t.after(() => service.stop())
  const api = await service.newAccount()
  const payment = await api.createPayment()
  const ready = async () => (await api.get('/readyz')).status
  const capacity = (pages: number) =>
    service.database.write([{ sql: `pragma max_page_count = ${pages}`, values: [] }])

  const [{ page_count } = { page_count: 0 }] = await service.database.query<{ page_count: number }>(
    'pragma page_count',
  )
  await capacity(page_count)
  const answers: Answer[] = []
  while (answers.at(-1)?.status !== 500)
    answers.push(await api.post('/v1/payments', { ...webPayment, description: 'x'.repeat(255) }))

  assert.equal(answers.at(-1)?.body.code, 'P0999')
  assert.equal(await ready(), 503)
  assert.equal((await api.get(`/v1/payments/${payment.payment_id}`)).status, 200)
  const { total } = (await api.get('/v1/payments')).body
  assert.equal(total, answers.length, 'exactly the acknowledged payments are there')
  assert.equal(await ready(), 503, 'the check itself makes no room')

  await capacity(page_count + 1000)
  assert.equal(await ready(), 200)
  await api.createPayment()
  assert.equal((await api.get('/v1/payments')).body.total, total + 1)
})

test('A request whose commit fails with an I/O error is 500, and the process exits with 1', async t => {
  const url = tempDatabase()
  // A file that may not grow further fails with EFBIG, which SQLite reports as it does EIO.
  const limited = await serve(t, url, {}, ['bash', '-c', 'ulimit -f 600; exec "$@"', 'bash'])
  const acknowledged: string[] = []
  const refused: Answer[] = []

  async function createUntilRefused(): Promise<void> {
    for (;;) {
      // A request that comes half a second after the error gets no answer.
      const answer = await limited.api.post('/v1/payments', webPayment).catch(() => undefined)
      if (!answer) return
      if (answer.status !== 201) return void refused.push(answer)
      acknowledged.push(answer.body.payment_id)
    }
  }
  await Promise.all(Array.from({ length: 8 }, createUntilRefused))

  const kinds = new Set(refused.map(({ status, body }) => `${status} ${body.code}`))
  assert.deepEqual([...kinds], ['500 P0999'])
  const exit = await limited.service.exited
  assert.deepEqual(exit, { code: 1, signal: null })
  assert.match(limited.service.output(), /the service cannot go on/)

  const { api } = await serve(t, url)
  const { total } = (await api.get('/v1/payments')).body
  const extra = total - acknowledged.length
  assert.ok(extra >= 0 && extra <= 8, `${extra} payments more than acknowledged`)
  for (const payment_id of acknowledged)
    assert.equal((await api.get(`/v1/payments/${payment_id}`)).status, 200)
})
