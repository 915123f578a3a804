import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { misbehaviours } from '../../support/misbehaviours.ts'
import { onOneDatabase } from '../../support/service.ts'
import { history, received, receiving, subscribe } from '../../support/subscriber.ts'

/** Milliseconds: two seconds, less the wait of a slow machine until it sends. */
const DEADLINE = 1_500

const all = Object.entries(misbehaviours)
const waiting = all.filter(([, { attempts }]) => attempts.includes('timeout'))
const answering = all.filter(each => !waiting.includes(each))

onOneDatabase('Webhooks: misbehaving receivers', receiving, service => {
  function testEach(chosen: typeof all): void {
    for (const [name, { behaviour, attempts: expected }] of chosen)
      test(`the history of a receiver that ${name} shows ${expected.map(result => result.slice(0, 40)).join(', then ')}`, async t => {
        const api = await service().newAccount()
        const { payment_id } = await api.createPayment()
        const subscriptions = ['card_payment_cancelled']
        const hangs = expected.includes('timeout')
        const subscriber = await subscribe(t, api, {
          behaviour: { ...behaviour, hangs },
          subscriptions,
        })

        assert.equal((await api.post(`/v1/payments/${payment_id}/cancel`)).status, 204)

        const [message, ...others] = await history(api, subscriber.webhook)
        assert.equal(others.length, 0)
        const attempts = message.attempts.toReversed()
        assert.deepEqual(
          attempts.map(({ status_code, result }: typeof message) => [status_code, result]),
          expected.map(result => [Number.parseInt(result, 10) || null, result]),
        )
        for (const { status, status_code, response_time, result } of attempts) {
          assert.equal(status, /^2\d\d$/.test(status_code) ? 'SUCCESSFUL' : 'FAILED')
          if (behaviour.refuses) assert.equal(response_time, null, 'nothing was sent')
          else if (result === 'timeout') assert.ok(response_time >= DEADLINE, `${response_time} ms`)
          else if (subscriber.requests.length > 0) assert.ok(Number.isInteger(response_time))
        }
        assert.equal(message.last_delivery_status, attempts.at(-1).status)
        assert.deepEqual(message.latest_attempt, message.attempts[0])
        assert.ok(subscriber.requests.length <= expected.length, 'never more than the attempts')
        for (const body of received(subscriber)) assert.deepEqual(body, message.body)
        const after = await api.get(`/v1/payments/${payment_id}`)
        assert.deepEqual(after.body, message.body.resource)
      })
  }

  testEach(answering)
  describe('that let an attempt wait', { concurrency: true }, () => testEach(waiting))
})
