import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { paidPayment, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'Building a payment',
  service => {
    const build = (api: Client, fields: object) => ask(service(), api, 'payments', fields)
    const count = async (api: Client): Promise<number> => (await api.get('/v1/payments')).body.total

    test('a payment that is built without fields has an amount of £14.50 and was just created', async () => {
      const api = await service().newAccount()
      const { status, body } = await build(api, {})
      assert.equal(status, 201)
      assert.deepEqual(body, await read(api, body))
      assert.deepEqual(
        [body.amount, body.reference, body.description, body.return_url, body.state.status],
        [1450, 'payment-1', 'A payment', 'https://service.example/return', 'created'],
      )
      const more = await Promise.all([build(api, {}), build(api, {})])
      const references = new Set(more.map(({ body }) => body.reference))
      if (service().kind === 'sqlite')
        assert.deepEqual([...references].sort(), ['payment-2', 'payment-3'])
    })

    const delayed = { delayed_capture: true }
    const moto = { authorisation_mode: 'moto_api' }
    const courses = [
      [{ scenario: 'success' }, 'created started submitted success', 0],
      [{ scenario: 'declined' }, 'created started failed', 0],
      [{ scenario: 'error' }, 'created started error', 0],
      [{ scenario: 'cancel' }, 'created started failed', 0],
      [{ cancel: true }, 'created cancelled', 0],
      [{ ...delayed, scenario: 'success' }, 'created started submitted capturable', 0],
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
      [{ ...moto, scenario: 'success' }, 'created started submitted success', 0],
      [{ ...moto, scenario: 'declined' }, 'created started failed', 0],
      [{ ...moto, cancel: true }, 'created cancelled', 0],
    ] as const

    test('a built payment can take each course of the state table', async () => {
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

    test('a built payment is the same as one made step by step with the endpoints', async () => {
      const api = await service().newAccount()
      const fields = { amount: 2000, reference: 'R-7', description: 'A boat' }
      const built = await build(api, { ...fields, scenario: 'success', refund: 1 })
      const paid = await paidPayment(api, fields)
      await api.post(paid._links.refunds.href, { amount: 1 })
      const masked = ({ return_url, ...payment }: Body) =>
        JSON.stringify(payment).replaceAll(/[0-9a-v]{26}|[0-9a-f-]{36}/g, '*')
      assert.equal(masked(built.body), masked(await read(api, paid)))
    })

    test('a course that the state table does not have is refused, and nothing is made', async () => {
      const api = await service().newAccount()
      for (const [fields, code, field] of [
        [{ capture: true }, 'C0102', 'capture'],
        [{ scenario: 'success', capture: true }, 'C0102', 'capture'],
        [{ ...delayed, scenario: 'declined', capture: true }, 'C0102', 'capture'],
        [{ ...delayed, scenario: 'success', refund: 1 }, 'C0102', 'refund'],
        [{ refund: true }, 'C0102', 'refund'],
        [{ scenario: 'success', refund: 1451 }, 'C0102', 'refund'],
        [{ scenario: 'success', refund: 0 }, 'C0102', 'refund'],
        [{ scenario: 'success', cancel: true }, 'C0102', 'cancel'],
        [{ scenario: 'declined', cancel: true }, 'C0102', 'cancel'],
        [{ ...moto, scenario: 'error' }, 'C0102', 'scenario'],
        [{ scenario: 'paid' }, 'C0102', 'scenario'],
        [{ cancel: 'yes' }, 'C0102', 'cancel'],
        [{ amout: 1 }, 'C0103', 'amout'],
        [{ email: 'x'.repeat(255) }, 'P0102', 'email'],
      ] as const) {
        const { status, body } = await build(api, fields)
        assert.deepEqual([status, body.code, body.field], [422, code, field])
      }
      assert.equal(await count(api), 0)
    })

    test('a payment of last week can be made: start the clock in the past, build it, advance', async () => {
      const api = await service().newAccount()
      await ask(service(), api, 'reset', { at: '2026-01-05T10:00:00Z' })
      const { body: payment } = await build(api, { scenario: 'success' })
      await ask(service(), api, 'clock', { advance: 604_799_999 })
      assert.equal((await read(api, payment)).created_date, '2026-01-05T10:00:00.000Z')
      await ask(service(), api, 'clock', { advance: 1 })
      assert.equal(await count(api), 0)
    })
  },
  { control: true },
)
