import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../support/client.ts'
import { ask, assertRefused } from '../../support/control.ts'
import { read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Building a payment', { control: true }, service => {
  const build = (api: Client, fields: object) => ask(service(), api, 'payments', fields)
  const count = async (api: Client): Promise<number> => (await api.get('/v1/payments')).body.total

  test('a payment that is built without fields has an amount of £14.50 and was just created', async () => {
    const api = await service().newAccount()
    const { status, body } = await build(api, {})
    assert.equal(status, 201)
    assert.deepEqual(body, await read(api, body))
    assert.deepEqual(
      [body.amount, body.reference, body.description, body.return_url, body.state.status],
      [1450, 'payment-1', 'A payment', 'https://service.example.org/return', 'created'],
    )
    const more = await Promise.all([build(api, {}), build(api, {})])
    const references = new Set(more.map(({ body }) => body.reference))
    if (service().kind === 'sqlite')
      assert.deepEqual([...references].sort(), ['payment-2', 'payment-3'])
  })

  const delayed = { delayed_capture: true }
  const moto = { authorisation_mode: 'moto_api' }
  // scenarios.test.ts has those that end with a scenario.
  const courses = [
    [{ cancel: true }, 'created cancelled', 0],
    [
      { ...delayed, scenario: 'success', cancel: true },
      'created started submitted capturable cancelled',
      0,
    ],
    [
      { ...delayed, scenario: 'success', capture: true, refund: 500 },
      'created started submitted capturable success',
      500,
    ],
    [{ scenario: 'success', refund: true }, 'created started submitted success', 1450],
    [{ ...moto, cancel: true }, 'created cancelled', 0],
  ] as const

  test('a built payment can be cancelled, captured and refunded', async () => {
    const api = await service().newAccount()
    for (const [fields, statuses, refunded] of courses) {
      const { status, body } = await build(api, fields)
      assert.equal(status, 201, JSON.stringify(body))
      assert.deepEqual(body, await read(api, body))
      assert.equal((await statusesOf(api, body)).join(' '), statuses)
      assert.equal(body.refund_summary.amount_submitted, refunded)
    }
    assert.equal((await api.get('/v1/refunds')).body.total, 2)
  })

  test('a course that the state table does not have is refused, and creates nothing', async () => {
    const api = await service().newAccount()
    const agreement_id = '0'.repeat(26)
    const agreement = { authorisation_mode: 'agreement', agreement_id }
    const paid = { scenario: 'success' }
    await assertRefused(service(), api, 'payments', [
      [{ capture: true }, 'capture'],
      [{ ...paid, capture: true }, 'capture'],
      [{ ...delayed, scenario: 'declined', capture: true }, 'capture'],
      [{ ...delayed, ...paid, refund: 1 }, 'refund'],
      [{ refund: true }, 'refund'],
      [{ ...paid, refund: 1451 }, 'refund'],
      [{ ...paid, refund: 0 }, 'refund'],
      [{ ...paid, refund: { amount: 0 } }, 'refund'],
      [{ ...paid, refund: { sum: 1 } }, 'refund.sum', 'C0103'],
      [{ ...paid, refund: { amount: 1, scenario: 'declined' } }, 'refund.scenario'],
      [{ ...paid, cancel: true }, 'cancel'],
      [{ cancel: 'yes' }, 'cancel'],
      [{ ...paid, hold: true, refund: 1 }, 'hold'],
      [{ scenario: 'expired' }, 'scenario'],
      [{ ...moto, scenario: 'cancel' }, 'scenario'],
      [{ ...agreement, scenario: 'cancel' }, 'scenario'],
      [{ scenario: 'paid' }, 'scenario'],
      [{ scenario: 'declined', can_retry: true }, 'can_retry'],
      [{ amout: 1 }, 'amout', 'C0103'],
      [{ email: 'x'.repeat(255) }, 'email', 'P0102'],
    ])
    assert.equal(await count(api), 0)
  })
})
