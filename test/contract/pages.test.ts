import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createAgreement } from '../support/agreements.ts'
import { assertError } from '../support/assertions.ts'
import type { Body, Client } from '../support/client.ts'
import { endpoints } from '../support/endpoints.ts'
import { cancelledPayment, newPaidPayment } from '../support/journeys.ts'
import { onSharedDatabases } from '../support/service.ts'

/** Each search, with the code for a page after the last. */
const searches = Object.entries(endpoints)
  .filter(([name, codes]) => name.startsWith('GET') && codes[422])
  .map(([name, codes]) => [name.slice('GET '.length), codes[404]?.slice(-5) ?? ''] as const)

const idOf = (found: Body): string =>
  ['external_id', 'refund_id', 'dispute_id', 'agreement_id', 'payment_id']
    .map(name => found[name])
    .find(id => id !== undefined)

onSharedDatabases('Pages of searches', service => {
  let api: Client
  let webhook_id = ''
  before(async () => {
    const { api: owner, payment } = await newPaidPayment(service())
    api = owner
    for (let i = 0; i < 5; i++) {
      const callback_url = `https://hooks.example.org/${i}`
      webhook_id = (await api.post('/v1/webhooks', { callback_url })).body.external_id
      await createAgreement(api)
      await api.post(payment._links.refunds.href, { amount: 1 })
    }
    for (let i = 0; i < 4; i++) await cancelledPayment(api)
  })

  for (const [template, past] of searches)
    test(`the pages of GET ${template} are the parts of one list, newest first, and link to one another`, async () => {
      const path = template.replace('{webhook_id}', webhook_id)
      const all: Body[] = (await api.get(path)).body.results
      const ids = all.map(idOf)
      assert.deepEqual(ids, ids.toSorted().toReversed(), 'also those of one millisecond')
      const base = service().config.baseUrl ?? service().baseUrl
      const link = (page: number) => ({
        href: `${base}${path}?page=${page}&display_size=2`,
        method: 'GET',
      })
      const last = Math.ceil(all.length / 2)
      assert.ok(last > 1)
      for (let page = 1; page <= last; page++) {
        const { results, links, ...rest } = (await api.get(link(page).href)).body
        assert.deepEqual(results, all.slice(page * 2 - 2, page * 2))
        assert.deepEqual(rest, {
          total: all.length,
          count: results.length,
          page,
          _links: {
            self: link(page),
            first_page: link(1),
            last_page: link(last),
            ...(page > 1 && { prev_page: link(page - 1) }),
            ...(page < last && { next_page: link(page + 1) }),
          },
        })
      }
      assertError(await api.get(link(last + 1).href), 404, past)
    })
})
