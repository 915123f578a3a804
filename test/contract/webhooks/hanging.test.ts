import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Answer } from '../../support/client.ts'
import { authorise, cancelledPayment, newPayment, read } from '../../support/journeys.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { endsOf, subscribe } from '../../support/subscriber.ts'
import { paymentPath } from './payment-changes.ts'

const moto = { authorisation_mode: 'moto_api' }
const hang: Behaviour = { onRequest: () => {}, plain: true, hangs: true }

/** The least time of twenty webhooks one after another, in seconds, on any machine. */
const ONE_AFTER_ANOTHER = 80
const CANCELLED = { subscriptions: ['card_payment_cancelled'] }

/** A delivery gives up after a real timeout of 2 seconds, so these tests wait at the same time. */
describe('Webhooks: receivers that do not respond', { concurrency: true }, () => {
  onSharedDatabases(
    'Webhooks: cost of receivers that do not respond',
    { receives: true },
    service => {
      describe('cost', { concurrency: true }, () => {
        const seconds = async (work: Promise<Answer>): Promise<number> => {
          const started = performance.now()
          assert.equal((await work).status, 204)
          return (performance.now() - started) / 1_000
        }
        test('twenty webhooks that do not respond delay a request with one message each by 4 seconds', async t => {
          const { api, payment } = await newPayment(service())
          // One after another: a slow machine takes seconds to open many connections to PostgreSQL at once.
          const hanging = await Array.fromAsync({ length: 20 }, () =>
            subscribe(t, api, { ...CANCELLED, behaviour: hang }),
          )
          const took = await seconds(api.post(`${paymentPath(payment)}/cancel`))
          assert.ok(took >= 3.9 && took < ONE_AFTER_ANOTHER, `${took} s`)
          for (const subscriber of hanging)
            assert.deepEqual(await endsOf(api, subscriber), [['FAILED', 2]])
        })

        test('a webhook that does not respond delays a request with two messages by 8 seconds', async t => {
          const { api, payment } = await newPayment(service(), moto)
          await subscribe(t, api, { behaviour: hang })
          await subscribe(t, api, { behaviour: { onConnection: () => {}, hangs: true } })
          const took = await seconds(authorise(api, payment))
          assert.ok(took >= 7.8, `${took} s`)
        })
      })
    },
  )
})

// After the others: the twenty receivers above can keep a busy machine from answering in time.
onSharedDatabases('Webhooks: other requests', { receives: true }, service => {
  test('a webhook that does not respond does not delay reads of its account and requests of other accounts', async t => {
    const { api, payment } = await newPayment(service())
    const hanging = await subscribe(t, api, { behaviour: hang })
    const other = await service().newAccount()
    const subscriber = await subscribe(t, other)
    let answered = false
    const answer = api.post(`${paymentPath(payment)}/cancel`).finally(() => {
      answered = true
    })
    await hanging.next()
    for (let i = 0; i < 5; i++) {
      assert.equal((await read(api, payment)).state.status, 'cancelled')
      await cancelledPayment(other)
    }
    assert.equal(answered, false, 'ten other requests are answered first')
    assert.equal(subscriber.requests.length, 5)
    await hanging.close()
    assert.equal((await answer).status, 204)
  })
})
