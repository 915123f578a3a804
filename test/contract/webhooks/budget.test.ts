import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  ACTIVE_WEBHOOKS,
  DELIVERIES_AT_DATABASE,
  DELIVERING_BYTES,
} from '../../../src/core/budgets.ts'
import type { AttemptResult } from '../../../src/core/ports.ts'
import type { Answer } from '../../support/client.ts'
import { resultOf } from '../../support/held-send.ts'
import { createLargePayments } from '../../support/large-payments.ts'
import { startService } from '../../support/service.ts'
import { mockWrites } from '../../support/watched.ts'

/** One character: a message counts with its bytes. */
const THREE_BYTES = '€'

test('An account has half of the bytes of messages that are being delivered, what finds no room is 503 and changes nothing, and another account notices nothing', async t => {
  const held: ((result: AttemptResult) => void)[] = []
  let bytes = 0
  const service = await startService('sqlite', {
    send: ({ url, body }) => {
      if (!url.includes('hanging')) return Promise.resolve(resultOf(200))
      bytes += Buffer.byteLength(body)
      return new Promise(resolve => void held.push(resolve))
    },
  })
  t.after(() => service.stop())
  const [greedy, stranger] = [await service.newAccount(), await service.newAccount()]
  const hook = (i: number) => ({ callback_url: `https://hooks.example.org/hanging/${i}` })
  const hooks = Array.from({ length: ACTIVE_WEBHOOKS }, (_, i) =>
    greedy.post('/v1/webhooks', hook(i)),
  )
  for (const { status } of await Promise.all(hooks)) assert.equal(status, 201)
  await stranger.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/other' })
  await createLargePayments(greedy, 50, THREE_BYTES)
  const { results } = (await greedy.get('/v1/payments')).body
  const paths: string[] = results.map(
    ({ payment_id }: { payment_id: string }) => `/v1/payments/${payment_id}/cancel`,
  )
  const answers = new Map<string, Answer>()
  const cancels = paths.map(path =>
    greedy.post(path).then(answer => void answers.set(path, answer)),
  )
  while (answers.size + held.length / ACTIVE_WEBHOOKS < paths.length) await setImmediate()

  const [refused] = [...answers.keys()]
  for (const { status, headers, body } of answers.values())
    assert.deepEqual([status, headers.get('retry-after'), body.code], [503, '1', 'P0999'])
  // Half of the last change counts: it may take as much as the budget then leaves free.
  const half = bytes - (bytes * ACTIVE_WEBHOOKS) / held.length / 2
  assert.ok(half <= DELIVERING_BYTES / 2 && half > DELIVERING_BYTES / 4, `${half} bytes`)
  assert.ok(refused)
  const payment = await greedy.get(refused.replace('/cancel', ''))
  assert.equal(payment.body.state.status, 'created')
  const { payment_id } = await stranger.createPayment()
  assert.equal((await stranger.post(`/v1/payments/${payment_id}/cancel`)).status, 204)

  const together: number[] = []
  mockWrites(t, service.database, (write, statements) => {
    for (const { expect = 0 } of statements) together.push(expect)
    return write()
  })
  for (const answer of held) answer(resultOf(200))
  await Promise.all(cancels)
  assert.equal(Math.max(...together), DELIVERIES_AT_DATABASE)
  assert.ok(together.length < held.length / 8, `${together.length} writes for ${held.length}`)
  const again = greedy.post(refused)
  const before = held.length
  while (held.length < before + ACTIVE_WEBHOOKS) await setImmediate()
  for (const answer of held) answer(resultOf(200))
  assert.equal((await again).status, 204)
})
