import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import {
  authorise,
  choose,
  DECLINED,
  payOnPages,
  read,
  statusesOf,
} from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

/** How a client brings a payment into each visible state. */
const states: Record<string, (api: Client) => Promise<Body>> = {
  created: api => api.createPayment(),
  started: async api => {
    const payment = await api.createPayment()
    await api.get(payment._links.next_url.href)
    return payment
  },
  'started, with success chosen': async api => {
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    return payment
  },
  capturable: async api => payOnPages(api, await api.createPayment({ delayed_capture: true })),
  success: async api => payOnPages(api, await api.createPayment()),
  'success after a capture': async api => {
    const payment = await states.capturable?.(api)
    await api.post(payment._links.capture.href)
    return payment
  },
  'failed because the card was declined': async api => {
    const payment = await api.createPayment()
    await choose(api, payment, 'declined')
    return payment
  },
  'failed because the user cancelled it': async api => {
    const payment = await api.createPayment()
    await choose(api, payment, 'cancel')
    return payment
  },
  error: async api => {
    const payment = await api.createPayment()
    await choose(api, payment, 'error')
    return payment
  },
  cancelled: async api => {
    const payment = await api.createPayment()
    await api.post(payment._links.cancel.href)
    return payment
  },
  'created in moto_api mode': api => api.createPayment({ authorisation_mode: 'moto_api' }),
  'capturable in moto_api mode': async api => {
    const fields = { authorisation_mode: 'moto_api', delayed_capture: true }
    const payment = await api.createPayment(fields)
    await authorise(api, payment)
    return payment
  },
  'failed in moto_api mode': async api => {
    const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
    await authorise(api, payment, { card_number: DECLINED })
    return payment
  },
  'capturable in agreement mode': async api => {
    const agreement_id = await activeAgreement(api)
    const fields = { authorisation_mode: 'agreement', agreement_id, delayed_capture: true }
    return api.createPayment(fields)
  },
  'success in agreement mode': async api =>
    api.createPayment({
      authorisation_mode: 'agreement',
      agreement_id: await activeAgreement(api),
    }),
}

const cancellable = /^(created|started|capturable)/
const capturable = /^capturable/

onSharedDatabases('Payments: cancel and capture', service => {
  const operate = (api: Client, { payment_id }: Body, verb: 'cancel' | 'capture') =>
    api.request('POST', `/v1/payments/${payment_id}/${verb}`)

  for (const [state, reach] of Object.entries(states)) {
    const mayBe = cancellable.test(state)
    const result = mayBe ? '204' : '400 P0501'
    test(`POST cancel returns ${result} for a payment that is ${state}`, async () => {
      const api = await service().newAccount()
      const payment = await reach(api)
      const before = { payment: await read(api, payment), steps: await statusesOf(api, payment) }
      const answer = await operate(api, payment, 'cancel')
      if (!mayBe) {
        assertError(answer, 400, 'P0501')
        assert.deepEqual(await read(api, payment), before.payment)
        return
      }
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assert.equal((await read(api, payment)).state.code, 'P0040')
      assert.deepEqual(await statusesOf(api, payment), [...before.steps, 'cancelled'])
      assertError(await operate(api, payment, 'cancel'), 400, 'P0501')
    })
  }

  for (const [state, reach] of Object.entries(states)) {
    const mayBe = capturable.test(state)
    const result = mayBe ? '204' : '409 P1003'
    test(`POST capture returns ${result} for a payment that is ${state}`, async () => {
      const api = await service().newAccount()
      const payment = await reach(api)
      const before = { payment: await read(api, payment), steps: await statusesOf(api, payment) }
      const answer = await operate(api, payment, 'capture')
      if (!mayBe) {
        assertError(answer, 409, 'P1003')
        assert.deepEqual(await read(api, payment), before.payment)
        return
      }
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assert.equal((await read(api, payment)).state.status, 'success')
      assert.deepEqual(await statusesOf(api, payment), [...before.steps, 'success'])
      assertError(await operate(api, payment, 'capture'), 409, 'P1003')
      assertError(await operate(api, payment, 'cancel'), 400, 'P0501')
    })
  }

  test('cancel and capture accept a body of any type and ignore it', async () => {
    const api = await service().newAccount()
    for (const [type, body] of [
      ['application/json', '{"amount":'],
      ['application/x-www-form-urlencoded', 'a=%ff&&'],
      ['application/x-www-form-urlencoded; =;', 'a'],
      ['text/plain; charset', 'hello'],
      ['nonsense', 'x'],
      ['', 'x'],
      ['multipart/form-data', 'x'],
      ['application/json', ''],
      ['application/xml', '<a/>'],
    ] as const) {
      const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' }
      const payment = await payOnPages(api, await api.createPayment({ delayed_capture: true }))
      const captured = await api.request('POST', payment._links.capture.href, { headers, body })
      assert.equal(captured.status, 204, `${type}: ${captured.text}`)
      const other = await api.createPayment()
      const cancelled = await api.request('POST', other._links.cancel.href, { headers, body })
      assert.equal(cancelled.status, 204, `${type}: ${cancelled.text}`)
    }
  })

  test('cancel, capture, events and GET return 404 for every payment id that does not exist', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    for (const id of [
      '06g9u0765u0svu9dh5jt4ctffr',
      payment_id.toUpperCase(),
      payment_id.slice(1),
      `${payment_id}0`,
      `${payment_id}%00`,
      '%00',
      'x',
      '%20',
      "';drop",
      'é',
      'x'.repeat(2000),
    ]) {
      const path = `/v1/payments/${id}`
      assertError(await api.request('POST', `${path}/cancel`), 404, 'P0500')
      assertError(await api.request('POST', `${path}/capture`), 404, 'P1000')
      assertError(await api.get(`${path}/events`), 404, 'P0300')
      assertError(await api.get(path), 404, 'P0200')
    }
  })
})
