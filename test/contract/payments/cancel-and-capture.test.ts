import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { paidPayment, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

/** How a client makes a payment in these states. test/domain/transitions.test.ts has all. */
const states: Record<string, (api: Client) => Promise<Body>> = {
  created: api => api.createPayment(),
  capturable: api => paidPayment(api, { delayed_capture: true }),
  success: api => paidPayment(api),
  'created in moto_api mode': api => api.createPayment({ authorisation_mode: 'moto_api' }),
}

const operations = {
  cancel: { may: /^(created|capturable)/, error: [400, 'P0501'], becomes: 'cancelled' },
  capture: { may: /^capturable/, error: [409, 'P1003'], becomes: 'success' },
} as const

onSharedDatabases('Payments: cancel and capture', service => {
  const operate = (api: Client, { payment_id }: Body, verb: keyof typeof operations) =>
    api.request('POST', `/v1/payments/${payment_id}/${verb}`)

  for (const [verb, { may, error, becomes }] of Object.entries(operations))
    for (const [state, reach] of Object.entries(states))
      test(`POST ${verb} returns ${may.test(state) ? 204 : error.join(' ')} for a payment that is ${state}`, async () => {
        const api = await service().newAccount()
        const payment = await reach(api)
        const [before, steps] = [await read(api, payment), await statusesOf(api, payment)]
        const answer = await operate(api, payment, verb as keyof typeof operations) // it is one
        if (!may.test(state)) {
          assertError(answer, error[0], error[1])
          assert.deepEqual(await read(api, payment), before)
          return
        }
        assert.deepEqual([answer.status, answer.text], [204, ''])
        const { status, code } = (await read(api, payment)).state
        assert.deepEqual([status, code], [becomes, verb === 'cancel' ? 'P0040' : undefined])
        assert.deepEqual(await statusesOf(api, payment), [...steps, becomes])
        assertError(await operate(api, payment, 'cancel'), 400, 'P0501')
        assertError(await operate(api, payment, 'capture'), 409, 'P1003')
      })

  test('cancel and capture accept a body of any type and ignore it', async () => {
    const api = await service().newAccount()
    for (const [type, body] of [
      ['application/json', '{"amount":'],
      ['application/x-www-form-urlencoded; =;', 'a'],
      ['nonsense', 'x'],
      ['', 'x'],
    ] as const) {
      const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' }
      const payment = await paidPayment(api, { delayed_capture: true })
      const captured = await api.request('POST', payment._links.capture.href, { headers, body })
      assert.equal(captured.status, 204, `${type}: ${captured.text}`)
      const other = await api.createPayment()
      const cancelled = await api.request('POST', other._links.cancel.href, { headers, body })
      assert.equal(cancelled.status, 204, `${type}: ${cancelled.text}`)
    }
  })
})
