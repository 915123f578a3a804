import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Answer } from '../../support/client.ts'
import { authorise, read } from '../../support/journeys.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { endingsOf, receiving, subscribe } from '../../support/subscriber.ts'
import { cancelOne, pathOf } from './payment-changes.ts'

const moto = { authorisation_mode: 'moto_api' }
/** Seconds that a machine busy with other tests may add. */
const LEEWAY = 4
const CANCELLED = { subscriptions: ['card_payment_cancelled'] }

/** Webhooks take real time to give up on, so these wait together. */
describe('Receivers that hang', { concurrency: true }, () => {
  onEveryDatabase(
    'cost their own callers',
    service => {
      describe('at most', { concurrency: true }, () => {
        const seconds = async (work: Promise<Answer>): Promise<number> => {
          const started = performance.now()
          assert.equal((await work).status, 204)
          return (performance.now() - started) / 1_000
        }
        const hang: Behaviour = { onRequest: () => {} }

        test('4 seconds for one message each, twenty webhooks side by side', async t => {
          const api = await service().newAccount()
          const payment = await api.createPayment()
          const hanging = await Promise.all(
            Array.from({ length: 20 }, () => subscribe(t, api, { ...CANCELLED, behaviour: hang })),
          )
          const took = await seconds(api.post(`${pathOf(payment)}/cancel`))
          assert.ok(took >= 3.9 && took <= 4 + LEEWAY, `${took} s`)
          for (const subscriber of hanging) {
            assert.equal(subscriber.requests.length, 2)
            assert.deepEqual(await endingsOf(api, subscriber), [['FAILED', 2]])
          }
        })

        test('8 seconds for two messages of one webhook', async t => {
          const api = await service().newAccount()
          const payment = await api.createPayment(moto)
          await subscribe(t, api, { behaviour: hang })
          await subscribe(t, api, { behaviour: { onConnection: () => {} } })
          const took = await seconds(authorise(api, payment))
          assert.ok(took >= 7.8 && took <= 8 + LEEWAY, `${took} s`)
        })

        test('nothing to others: requests of other accounts and reads of the same are answered', async t => {
          const api = await service().newAccount()
          const payment = await api.createPayment()
          const hanging = await subscribe(t, api, { behaviour: hang })
          const other = await service().newAccount()
          const subscriber = await subscribe(t, other)
          let answered = false
          const answer = api.post(`${pathOf(payment)}/cancel`).finally(() => {
            answered = true
          })
          await hanging.next()
          for (let i = 0; i < 5; i++) {
            assert.equal((await read(api, payment)).state.status, 'cancelled')
            assert.equal((await cancelOne(other)).status, 204)
          }
          assert.equal(answered, false, 'ten requests took less than the one that hangs')
          assert.equal(subscriber.requests.length, 5)
          assert.equal((await answer).status, 204)
        })
      })
    },
    receiving,
  )
})
