import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { onOneDatabase } from '../../support/service.ts'

const records = [
  {
    dispute_id: '06g29a1qo2naf3av5jnd3p8dkd',
    payment_id: '06fsevlu01p1fqg9rl81jfsr2s',
    amount: 3150,
    status: 'needs_response',
    reason: 'product_unacceptable',
    created_date: '2026-08-21T14:10:00.000Z',
    evidence_due_date: '2026-09-04T23:59:59.000Z',
  },
  {
    dispute_id: '06ftcthpc0859gdp31g4421ngn',
    payment_id: '06fnkfqq00c5mdq3b9enltsorc',
    amount: 900,
    status: 'under_review',
    reason: 'unrecognised',
    created_date: '2026-08-06T09:45:00.000Z',
    evidence_due_date: '2026-08-20T23:59:59.000Z',
  },
  {
    dispute_id: '06fn1o5bg14lrr0hjefd08vrfo',
    payment_id: '06fgs6ee02rtvvcsg5vlianjbc',
    amount: 12500,
    status: 'won',
    reason: 'fraudulent',
    created_date: '2026-07-17T16:20:00.000Z',
    evidence_due_date: '2026-07-31T23:59:59.000Z',
  },
  {
    dispute_id: '06fi4o6o80irm8n5te51pep3s1',
    payment_id: '06fbnd0e01n3fb986tbomqrp0a',
    amount: 2400,
    fee: 1500,
    net_amount: -3900,
    status: 'lost',
    reason: 'duplicate',
    created_date: '2026-07-02T10:30:00.000Z',
    evidence_due_date: '2026-07-16T23:59:59.000Z',
    settlement_summary: { settled_date: '2026-07-24' },
  },
]

const filters: [query: string, statuses: string[]][] = [
  ['status=needs_response', ['needs_response']],
  ['status=under_review', ['under_review']],
  ['status=won', ['won']],
  ['status=lost', ['lost']],
  ['from_date=2026-08-06T09:45:00.000Z', ['needs_response', 'under_review']],
  ['from_date=2026-08-06T09:45:00.001Z', ['needs_response']],
  ['from_date=2026-08-21T14:10:00.0005Z', []],
  ['from_date=2026-08-21T00:00:00Z&to_date=2026-08-21T14:10:00.0005Z', ['needs_response']],
  ['to_date=2026-07-17T16:20:00Z', ['lost']],
  ['to_date=2026-07-17T16:20:00.001Z', ['won', 'lost']],
  ['from_date=2026-07-17T16:20:00Z&to_date=2026-08-21T14:10:00Z', ['under_review', 'won']],
  ['from_date=2026-08-01T00:00:00Z&status=won', []],
  ['from_settled_date=2026-07-24', ['lost']],
  ['from_settled_date=2026-07-25', []],
  ['to_settled_date=2026-07-24', []],
  ['to_settled_date=2026-07-25', ['lost']],
  ['from_settled_date=2026-07-24&to_settled_date=2026-07-25', ['lost']],
]

onOneDatabase('Disputes', { control: true }, service => {
  const statuses = async (api: Client, query: string): Promise<string[]> => {
    const { status, body, text } = await api.get(`/v1/disputes?${query}`)
    assert.equal(status, 200, text)
    assert.equal(body.total, body.count)
    return body.results.map((dispute: Body) => dispute.status)
  }

  test('every account has the same four disputes at any time, newest first, and their payments do not exist', async () => {
    for (const years of [0, 10]) {
      const api = await service().newAccount()
      await api.advance(years * 365 * 86_400_000)
      const { body } = await api.get('/v1/disputes')
      const { origin } = new URL(body._links.self.href)
      const expected = records.map(record => ({
        ...record,
        _links: {
          payment: { href: `${origin}/v1/payments/${record.payment_id}`, method: 'GET' },
        },
      }))
      assert.deepEqual(body.results, expected)
      assert.deepEqual(body.links, body._links)
      for (const { payment_id } of records)
        assertError(await api.get(`/v1/payments/${payment_id}`), 404, 'P0200')
    }
  })

  test('a dispute search finds by status, by the time of creation and by the day of settlement', async () => {
    const api = await service().newAccount()
    for (const [query, expected] of filters)
      assert.deepEqual(await statuses(api, query), expected, query)
  })
})
