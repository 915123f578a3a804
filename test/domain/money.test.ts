import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Status, statuses } from '../../src/pay/payments/payment.ts'
import { refund, refundSummary } from '../../src/pay/payments/refund.ts'
import { presentPayment } from '../../src/pay/payments/response.ts'
import { fc } from '../support/properties.ts'
import { samplePayment } from '../support/sample-payment.ts'

const addresses = { api: 'http://127.0.0.1:3000', pages: 'http://127.0.0.1:3000' }
const NOW = 1_790_000_000_000
const pence = fc.integer({ min: 0, max: 10_000_000 })
const wanted = fc.array(fc.integer({ min: 1, max: 5_000_000 }), { maxLength: 20 })

describe('Money', () => {
  test('the available and the refunded pence of a payment always add up to its amount', () => {
    fc.assert(
      fc.property(pence, wanted, (amount, refunds) => {
        let payment = samplePayment('success', { amount })
        let sum = 0
        for (const asked of refunds) {
          const { amount_available, status } = refundSummary(payment)
          assert.equal(status, amount_available > 0 ? 'available' : 'full')
          if (asked > amount_available) continue
          payment = refund(payment, asked, NOW).after
          sum += asked
        }
        const summary = refundSummary(payment)
        assert.equal(summary.amount_submitted, sum)
        assert.equal(summary.amount_available + summary.amount_submitted, amount)
        assert.ok(summary.amount_available >= 0)
      }),
    )
  })

  test('a refund records no payment event and sends card_payment_refunded', () => {
    const before = samplePayment('success')
    const { after, at, sends } = refund(before, 1250, NOW)
    assert.equal(at, NOW)
    assert.deepEqual(after, { ...before, version: before.version + 1, refunded_amount: 1250 })
    assert.deepEqual(sends, ['card_payment_refunded'])
  })

  const summaries: Record<Status, { status: string; amount_available: number }> = {
    created: { status: 'pending', amount_available: 4650 },
    started: { status: 'pending', amount_available: 4650 },
    submitted: { status: 'pending', amount_available: 4650 },
    capturable: { status: 'unavailable', amount_available: 4650 },
    failed: { status: 'unavailable', amount_available: 4650 },
    cancelled: { status: 'unavailable', amount_available: 4650 },
    error: { status: 'unavailable', amount_available: 4650 },
    success: { status: 'available', amount_available: 4650 },
  }
  for (const status of statuses)
    test(`a payment that is ${status} has the refund summary of its status`, () => {
      const summary = refundSummary(samplePayment(status))
      assert.deepEqual(summary, { ...summaries[status], amount_submitted: 0 })
    })

  test('fee and net_amount are set after a capture, and both 0 after a declined card or an error', () => {
    const fees = (status: Status, code?: 'P0030') => {
      const payment = samplePayment(status)
      const events = payment.events.map(event => ({
        ...event,
        ...(event.code && code && { code }),
      }))
      const { fee, net_amount } = presentPayment({ ...payment, events }, addresses)
      return [fee, net_amount]
    }
    const none = [undefined, undefined]
    assert.deepEqual(fees('success'), [0, 4650])
    assert.deepEqual(fees('failed'), [0, 0])
    assert.deepEqual(fees('error'), [0, 0])
    assert.deepEqual(fees('failed', 'P0030'), none)
    for (const status of ['created', 'started', 'submitted', 'capturable', 'cancelled'] as const)
      assert.deepEqual(fees(status), none, status)
  })

  test('a refunded payment keeps its fee and net_amount', () => {
    const { after } = refund(samplePayment('success'), 650, NOW)
    const { fee, net_amount } = presentPayment(after, addresses)
    assert.deepEqual([fee, net_amount], [0, 4650])
  })
})
