/** The responses of a receiver of the library. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { ReceiveOptions } from '../../src/testing/public.d.ts'
import { startReceiver } from '../../src/testing/receiver.ts'
import { connected } from './connected.ts'

type Given = ReceiveOptions['answer'] & {}

describe('A receiver', () => {
  const farthing = connected()

  const wrong = [99, 'x', null, { stat: 5 }, { delay: 5 }, { status: 503, delay: 'soon' }, 200.5]

  test('receives messages as GOV.UK Pay sends them, in an account that behaves so', async () => {
    await using account = await farthing().account({ behaviour: 'govuk-pay' })
    const receiver = await account.receive()
    const declined = await account.payment({ scenario: 'declined' })
    const { payment, raw } = await receiver.next({ event: 'card_payment_failed' })
    assert.equal(payment.payment_id, declined.payment_id)
    assert.equal(String(payment.state.status), 'declined')
    assert.match(raw, /"resource_type":"PAYMENT"/)
    await account.settled({ timeout: '30s' })
  })

  test('refuses an answer that is not a status', async () => {
    await using account = await farthing().account()
    for (const answer of wrong as Given[])
      await assert.rejects(account.receive({ answer }), /^TypeError: receive: answer: /)
    const receiver = await account.receive()
    for (const answer of wrong as Given[])
      assert.throws(() => receiver.answer(answer), /^TypeError: answer: /)
  })

  test('responds 500 if its function throws or returns no status, and the next call of next rejects', async () => {
    await using account = await farthing().account()
    const receiver = await account.receive()
    const failing: [Given, RegExp][] = [
      [() => assert.fail('no answer today'), /no answer today/],
      [async () => Promise.reject(new Error('no answer today')), /no answer today/],
      [() => 99, /^TypeError: answer: 99 is not a status/],
      [(() => undefined) as unknown as Given, /^TypeError: answer: undefined is not a status/],
    ]
    for (const [answer, message] of failing) {
      receiver.answer(answer)
      const { payment_id } = await account.payment({ scenario: 'declined' })
      await assert.rejects(receiver.next({ payment_id }), message)
      assert.equal((await receiver.next({ payment_id })).payment_id, payment_id)
    }
    await assert.rejects(
      account.settled({ timeout: '30s' }),
      /^Undelivered: 4 given up:.+500 .+, then 500/s,
    )
    receiver.answer(200)
    await account.payment({ scenario: 'declined' })
    await receiver.next()
  })

  test('responds 400 to what is not a message and 401 to a wrong signature, shows neither to anybody, and tells the signature once in next or all', async () => {
    await using account = await farthing().account()
    const shown: string[] = []
    const receiver = await account.receive({
      answer({ message_id }) {
        shown.push(message_id)
        return 200
      },
    })
    await account.payment({ scenario: 'declined' })
    const { raw, headers, message_id } = await receiver.next()
    const forge = async (signature?: string) => {
      const response = await fetch(receiver.url, {
        method: 'POST',
        body: raw,
        ...(signature && { headers: { 'Pay-Signature': signature } }),
      })
      assert.equal(response.status, 401)
    }
    const noMessage = await fetch(receiver.url, { method: 'POST', body: 'hello' })
    assert.equal(noMessage.status, 400)
    const about = { name: 'WaitError', message: /^card_payment_failed of .+ wrong signature/ }
    await forge(headers['pay-signature']?.replace(/^./, digit => (digit === '0' ? '1' : '0')))
    await assert.rejects(receiver.next({ payment_id: 'of another payment' }), about)
    await forge()
    assert.throws(() => receiver.all(), about)
    const waiting = assert.rejects(receiver.next(), about)
    await forge('0'.repeat(64))
    await waiting
    const seen = receiver.all().map(message => message.message_id)
    assert.deepEqual([seen, shown], [[message_id], [message_id]])
  })

  test('takes a message that comes before the response to its registration', async () => {
    const signing_key = 'webhook_test_of_this_test'
    const body = JSON.stringify({ event_type: 'card_payment_failed', webhook_message_id: 'M' })
    const digest = createHmac('sha256', signing_key).update(body).digest('hex')
    let early: Promise<Response> | undefined
    const call = async (method: string, _path: string, given?: unknown) => {
      if (method !== 'POST') return undefined
      const { callback_url } = given as { callback_url: string }
      early = fetch(callback_url, { method: 'POST', body, headers: { 'Pay-Signature': digest } })
      await Promise.race([early, setTimeout(100)])
      return { external_id: 'W', signing_key }
    }
    await using receiver = await startReceiver(call, () => '', {})
    assert.equal((await early)?.status, 200)
    assert.equal((await receiver.next()).message_id, 'M')
  })

  test('counts the attempts at each message, so that the first can fail and the second succeed', async () => {
    await using account = await farthing().account()
    const receiver = await account.receive({ answer: ({ attempt }) => (attempt === 1 ? 503 : 200) })
    const { payment_id } = await account.payment({ scenario: 'success' })
    const came = receiver.all().map(({ event_type, attempt }) => `${event_type} ${attempt}`)
    assert.deepEqual(came.sort(), [
      'card_payment_captured 1',
      'card_payment_captured 2',
      'card_payment_succeeded 1',
      'card_payment_succeeded 2',
    ])
    const { body } = await account.send('GET', `/control/messages?payment_id=${payment_id}`)
    for (const { delivery, attempts } of body.results)
      assert.deepEqual([delivery, attempts.length], ['SUCCESSFUL', 2])
  })
})
