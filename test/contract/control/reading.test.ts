import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { briefOf } from '../../support/assertions.ts'
import type { Body } from '../../support/client.ts'
import { asking } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Answer } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, history, received, receiving, subscribe } from '../../support/subscriber.ts'

onEveryDatabase('The reading half of control', receiving, service => {
  const control = asking(service)

  test('control lists the requests of the account, by each filter, and continues after the last one', async () => {
    const api = await service().newAccount()
    const payment = await cancelledPayment(api, { reference: 'R-7' })
    // Both instances write their record now, before the next request.
    await control(api, 'requests')
    service().clock.advance(10)
    await api.get('/v1/payments/unknown?x=1')
    const { body } = await control(api, 'requests')
    const operations = ({ results }: Body) => results.map((each: Body) => each.operation)
    const everything = ['createPayment', 'cancelPayment', 'readPayment']
    assert.deepEqual(operations(body).toSorted(), everything.toSorted())
    const created = body.results.find((each: Body) => each.operation === 'createPayment')
    assert.equal(created.body.reference, 'R-7')
    assert.equal(created.answer.body.payment_id, payment.payment_id)
    const { status, code, answered, reference, plan } = created
    assert.deepEqual([status, code, answered, reference, plan], [201, null, 'sent', 'R-7', null])
    const since = new Date(service().clock.now() - 5).toISOString()
    for (const [query, expected] of [
      ['operation=cancelPayment', ['cancelPayment']],
      [`payment_id=${payment.payment_id}&status=201`, ['createPayment']],
      ['refused=true', ['readPayment']],
      [`since=${since}`, ['readPayment']],
      ['limit=1', ['readPayment']],
      [`after=${body.next}`, []],
    ] as const)
      assert.deepEqual(operations((await control(api, `requests?${query}`)).body), expected)
    const real = await service().newAccount('govuk-pay')
    assert.equal((await real.get('/v1/unknown')).body.code, 404)
    assert.equal((await control(real, 'requests')).body.results[0].code, '404')
    const rest = await control(api, `requests?after=${body.next}`)
    assert.equal(rest.body.next, body.next)
  })

  test('control refuses unknown parameters, and requests without a valid key', async () => {
    const api = await service().newAccount()
    for (const [path, refused] of [
      ['requests?operatoin=x', '422 C0103 operatoin'],
      ['requests?operation=makePayment', '422 C0102 operation'],
      ['requests?wait=10001', '422 C0102 wait'],
      ['requests?limit=501', '422 C0102 limit'],
      ['messages?delivery=LOST', '422 C0102 delivery'],
    ] as const)
      assert.equal(briefOf(await control(api, path)), refused)
    assert.equal((await service().anonymous.get('/control/requests')).status, 401)
  })

  test('control says whether the receiver of a failed message has accepted it since, unchanged, by hand', async t => {
    const api = await service().newAccount()
    let status = 500
    const behaviour = { onRequest: (answer: Answer) => answering(status)(answer) }
    const accepted = async () => {
      const { body } = await control(api, 'messages')
      return body.results.map((each: Body) => each.accepted_by_hand)
    }
    await subscribe(t, api, { behaviour })
    await cancelledPayment(api)
    const { body } = await control(api, 'messages')
    const path = `messages/${body.results[0].message_id}/send`
    await control(api, path, {})
    status = 200
    await control(api, path, { signing_key: 'another' })
    assert.deepEqual(await accepted(), [false])
    await control(api, path, {})
    await cancelledPayment(api)
    assert.deepEqual(await accepted(), [true, false])
  })

  test('control lists a message with the bytes and the signature that were sent, and sends it again in every way, which changes neither message nor payment', async t => {
    const api = await service().newAccount()
    const subscriber = await subscribe(t, api)
    const payment = await cancelledPayment(api)
    const sql = `select * from webhook_messages where payment_id = '${payment.payment_id}'`
    const rows = () => service().database.query(sql)
    const before = [await rows(), await history(api, subscriber.webhook)]
    const [original] = received(subscriber)
    const path = `messages/${original.webhook_message_id}/send`
    const [listed] = (await control(api, `messages?payment_id=${payment.payment_id}`)).body.results
    const { raw: kept, headers, delivery, attempts } = listed
    assert.deepEqual([delivery, attempts.length], ['SUCCESSFUL', 1])
    assert.deepEqual((await control(api, 'messages?delivery=FAILED')).body.results, [])
    const sign = (body: string, key = subscriber.webhook.signing_key) =>
      createHmac('sha256', key).update(body)
    const right = sign(kept).digest('hex')
    assert.equal(headers['Pay-Signature'], right)
    assert.equal(subscriber.requests[0]?.body, kept)

    const { results } = (await control(api, path, { times: 2 })).body
    const sent = results.map((each: Body) => `${each.status} ${each.status_code}`)
    assert.deepEqual(sent, Array(2).fill('SUCCESSFUL 200'))
    for (const [asked, body, signature] of [
      [{}, kept, right],
      [{ body: '{"é":1}\n' }, '{"é":1}\n', sign('{"é":1}\n').digest('hex')],
      [{ signing_key: 'another' }, kept, sign(kept, 'another').digest('hex')],
      [{ damage: 'missing' }, kept, undefined],
      [{ damage: 'upper' }, kept, right.toUpperCase()],
      [{ damage: 'base64' }, kept, sign(kept).digest('base64')],
      [{ damage: 'newline' }, kept, sign(`${kept}\n`).digest('hex')],
      [{ damage: 'space' }, `${kept} `, right],
    ] as const) {
      assert.equal((await control(api, path, asked)).status, 200)
      const last = subscriber.requests.at(-1)
      assert.deepEqual([last?.body, last?.headers['pay-signature']], [body, signature])
    }
    await control(api, path, { damage: 'digit' })
    const digit = subscriber.requests.at(-1)?.headers['pay-signature']
    assert.equal(digit?.slice(0, -1), right.slice(0, -1))
    assert.notEqual(digit, right)
    await control(api, path, { new_identifier: true })
    const renamed = received({ ...subscriber, requests: subscriber.requests.slice(-1) })[0]
    assert.notEqual(renamed.webhook_message_id, original.webhook_message_id)

    assert.deepEqual([await rows(), await history(api, subscriber.webhook)], before)
    assert.equal(briefOf(await control(api, path, { times: 11 })), '422 C0102 times')
    await api.delete(`/v1/webhooks/${subscriber.webhook.external_id}`)
    assert.equal((await control(api, path, {})).body.code, 'C0409')
  })
})
