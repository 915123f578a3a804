import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRefund } from '../../../src/pay/refunds/store.ts'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { signIn } from '../../support/console.ts'
import { asking, made } from '../../support/control.ts'
import { newPaidPayment, paidPayment, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const ID = /^[0-9a-v]{26}$/

const refundsPath = ({ payment_id }: Body): string => `/v1/payments/${payment_id}/refunds`

async function refund(api: Client, payment: Body, amount: number): Promise<Body> {
  const answer = await api.post(refundsPath(payment), { amount })
  assert.equal(answer.status, 202, answer.text)
  return answer.body
}

// contract/pages, retention/gone, described-requests and domain/search-page test a search of refunds.
onSharedDatabases('Refunds', { control: true }, service => {
  test('the list of a payment with 1,201 refunds has all of them, and its page in the console the first and the last 500', async () => {
    const { name, api } = await service().namedAccount()
    const { payment_id } = await paidPayment(api)
    const ids = Array.from({ length: 1_201 }, (_, i) => payment_id.slice(0, 22) + (1_000 + i))
    const made = { payment_id, room: name, amount: 1, scenario: 'success' } as const
    const refunds = ids.map(refund_id => ({ refund_id, ...made }))
    await service().database.write(refunds.map(insertRefund))
    const { body } = await api.get(`/v1/payments/${payment_id}/refunds`)
    const listed = body._embedded.refunds.map((refund: Body) => refund.refund_id)
    assert.deepEqual(listed, ids)
    assert.equal(body.payment_id, payment_id)
    const { html } = await (await signIn(service(), api)).get(`payments/${payment_id}`)
    const shown = [499, 500, 700, 701].filter(i => html.includes(ids[i] ?? ''))
    assert.deepEqual(shown, [499, 701])
  })

  test('a refund has the same body in its own GET, in the list and in the search, and less in the 202, and is submitted for exactly 5 seconds, then success', async () => {
    const { api, payment } = await newPaidPayment(service())
    const { payment_id } = payment
    await api.advance(60_000)
    const made = await refund(api, payment, 1250)
    const self = `${payment._links.self.href}/refunds/${made.refund_id}`
    assert.deepEqual(made, {
      refund_id: made.refund_id,
      created_date: new Date(await api.now()).toISOString(),
      amount: 1250,
      status: 'submitted',
      _links: {
        self: { href: self, method: 'GET' },
        payment: { href: payment._links.self.href, method: 'GET' },
      },
    })
    assert.match(made.refund_id, ID)
    for (const [ms, status] of [
      [4_999, 'submitted'],
      [1, 'success'],
      [86_400_000, 'success'],
    ] as const) {
      await api.advance(ms)
      const shown: Body = { ...made, status, payment_id, settlement_summary: {} }
      assert.deepEqual((await api.get(self)).body, shown)
      assert.deepEqual((await api.get(refundsPath(payment))).body, {
        payment_id,
        _links: {
          self: { href: payment._links.refunds.href, method: 'GET' },
          payment: { href: payment._links.self.href, method: 'GET' },
        },
        _embedded: { refunds: [shown] },
      })
      assert.deepEqual((await api.get('/v1/refunds')).body.results, [shown])
    }
  })

  test('a refund changes the refund_summary of its payment at once and nothing else', async () => {
    const { api, payment } = await newPaidPayment(service())
    await api.advance(1_000)
    await refund(api, payment, 1250)
    const summary = { status: 'available', amount_available: 3400, amount_submitted: 1250 }
    assert.deepEqual(await read(api, payment), { ...payment, refund_summary: summary })
    const steps = ['created', 'started', 'submitted', 'success']
    assert.deepEqual(await statusesOf(api, payment), steps, 'refunds are not payment events')
  })

  test('a refund is found only with its own payment', async () => {
    const { api, payment } = await newPaidPayment(service())
    const { refund_id } = await refund(api, payment, 100)
    const other = await paidPayment(api)
    assertError(await api.get(`${refundsPath(other)}/${refund_id}`), 404, 'P0700')
    assertError(await api.get(`${refundsPath(payment)}/${payment.payment_id}`), 404, 'P0700')
    assert.equal((await api.get(`${refundsPath(payment)}/${refund_id}`)).status, 200)
  })

  test('twenty refunds at once that fit all succeed, and of those that name the available amount only one', async () => {
    const { api, payment } = await newPaidPayment(service(), { amount: 1_000 })
    const naming = await Promise.all(
      Array.from({ length: 20 }, () =>
        api.post(refundsPath(payment), { amount: 10, refund_amount_available: 1_000 }),
      ),
    )
    assert.equal(naming.filter(({ status }) => status === 202).length, 1)
    for (const answer of naming.filter(({ status }) => status !== 202))
      assertError(answer, 412, 'P0604')
    const fitting = await Promise.all(
      Array.from({ length: 20 }, () => api.post(refundsPath(payment), { amount: 49 })),
    )
    assert.deepEqual([...new Set(fitting.map(({ status }) => status))], [202])
    assert.equal((await read(api, payment)).refund_summary.amount_submitted, 990)
  })

  const control = asking(service)

  test('a refund that fails is submitted for 5 seconds, and its amount is available again', async () => {
    const api = await service().newAccount()
    await made(control(api, 'clock', { freeze: true }))
    for (const way of ['plan', 'build'] as const) {
      const built = way === 'build' && { refund: { amount: 500, scenario: 'error' } }
      const { payment_id } = await made(control(api, 'payments', { scenario: 'success', ...built }))
      const path = `/v1/payments/${payment_id}`
      if (way === 'plan') {
        await made(control(api, 'plans', { on: 'refundPayment', payment_id, scenario: 'error' }))
        const { status, body } = await api.post(`${path}/refunds`, { amount: 500 })
        assert.deepEqual([status, body.status], [202, 'submitted'])
      }
      const summary = async () => {
        const [one, many] = [await api.get(path), await api.get('/v1/payments')]
        assert.deepEqual(many.body.results[0].refund_summary, one.body.refund_summary)
        const { status, amount_available, amount_submitted } = one.body.refund_summary
        return [status, amount_available, amount_submitted]
      }
      const refunds = async () => {
        const { body } = await api.get(`${path}/refunds`)
        return body._embedded.refunds.map((refund: Body) => refund.status)
      }
      assert.deepEqual(await summary(), ['available', 950, 500])
      const tooMuch = await api.post(`${path}/refunds`, { amount: 951 })
      assert.equal(tooMuch.body.code, 'P0603')
      await api.advance(4_999)
      assert.deepEqual(await refunds(), ['submitted'])
      await api.advance(1)
      assert.deepEqual(await refunds(), ['error'])
      assert.deepEqual(await summary(), ['available', 1450, 0])
      const all = { amount: 1450, refund_amount_available: 1450 }
      assert.equal((await api.post(`${path}/refunds`, all)).status, 202)
      assert.deepEqual(await summary(), ['full', 0, 1450])
      await api.advance(5_000)
      assert.deepEqual(await refunds(), ['error', 'success'])
      assert.deepEqual(await summary(), ['full', 0, 1450])
      const { body } = await api.get('/v1/refunds')
      const ends = body.results.map(({ status }: Body) => status)
      assert.deepEqual(ends.slice(0, 2), ['success', 'error'])
    }
  })
})
