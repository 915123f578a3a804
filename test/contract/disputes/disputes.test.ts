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

/** A query and the statuses of the disputes in its results, in their order. */
const filters: [query: string, statuses: string[]][] = [
  ['status=needs_response', ['needs_response']],
  ['status=under_review', ['under_review']],
  ['status=won', ['won']],
  ['status=lost', ['lost']],
  ['status=', ['needs_response', 'under_review', 'won', 'lost']],
  ['status=lost&status=won', ['lost']],
  ['from_date=2026-08-06T09:45:00.000Z', ['needs_response', 'under_review']],
  ['from_date=2026-08-06T09:45:00.001Z', ['needs_response']],
  ['from_date=2026-08-06T10:45:00%2B01:00', ['needs_response', 'under_review']],
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

  test('every account has the same four disputes, newest first, at any time', async () => {
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
      assert.deepEqual([body.total, body.count, body.page], [4, 4, 1])
      assert.deepEqual(body.links, body._links)
    }
  })

  test('the payments of the disputes do not exist, and a dispute has no address', async () => {
    const api = await service().newAccount()
    for (const { payment_id, dispute_id } of records) {
      assertError(await api.get(`/v1/payments/${payment_id}`), 404, 'P0200')
      assertError(await api.get(`/v1/disputes/${dispute_id}`), 404, 'P0911')
    }
  })

  test('a dispute search finds by status, by the time of creation and by the day of settlement', async () => {
    const api = await service().newAccount()
    for (const [query, expected] of filters)
      assert.deepEqual(await statuses(api, query), expected, query)
  })

  test('the links of a dispute search contain its filters before page and display_size, and refuses wrong parameters', async () => {
    const api = await service().newAccount()
    const { body } = await api.get(
      '/v1/disputes?display_size=1&status=won&page=1&from_date=2026-07-01T00:00:00Z',
    )
    const { origin } = new URL(body._links.self.href)
    const page = {
      href: `${origin}/v1/disputes?from_date=2026-07-01T00%3A00%3A00Z&status=won&page=1&display_size=1`,
      method: 'GET',
    }
    assert.deepEqual(body._links, { self: page, first_page: page, last_page: page })
    assertError(await api.get('/v1/disputes?status=LOST&from_date=x'), 422, 'P0401')
  })
})
