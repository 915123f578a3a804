import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeAgreement, cancelAgreement, createAgreement } from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { onSharedDatabases } from '../../support/service.ts'

async function found(api: Client, query: string): Promise<string[]> {
  const { status, body, text } = await api.get(`/v1/agreements?${query}`)
  assert.equal(status, 200, text)
  return body.results.map(({ agreement_id }: Body) => agreement_id)
}

const idsOf = (agreements: Body[]): string[] => agreements.map(({ agreement_id }) => agreement_id)

onSharedDatabases(
  'Agreements: search',
  service => {
    test('an agreement search returns the agreements of the account, newest first, each as GET does', async () => {
      const api = await service().newAccount()
      const other = await service().newAccount()
      const made: Body[] = []
      for (let i = 0; i < 3; i++) {
        await api.advance(1)
        made.unshift(await createAgreement(api, { reference: `PLAN-${i}`, user_identifier: 'm' }))
      }
      await api.advance(1)
      made.unshift(await activeAgreement(api))
      const { body } = await api.get('/v1/agreements')
      assert.deepEqual(body.results, made)
      assert.deepEqual([body.total, body.count, body.page], [4, 4, 1])
      assert.equal((await other.get('/v1/agreements')).body.total, 0)
    })

    test('an agreement search sorts agreements of one millisecond by id in descending order', async () => {
      const api = await service().newAccount()
      for (let i = 0; i < 6; i++) await createAgreement(api)
      const ids = await found(api, '')
      assert.deepEqual(ids, [...ids].sort().reverse())
      assert.equal(new Set(ids).size, 6)
    })

    test('an agreement search by reference compares the whole text and ignores case', async () => {
      const api = await service().newAccount()
      const plan = await createAgreement(api, { reference: 'Plan-Ünï_100%' })
      await createAgreement(api, { reference: 'Plan-Ünï_100% and more' })
      await createAgreement(api, { reference: 'PlanXÜnïX100X' })
      for (const reference of ['Plan-Ünï_100%', 'PLAN-ÜNÏ_100%', 'plan-ünï_100%'])
        assert.deepEqual(
          await found(api, `reference=${encodeURIComponent(reference)}`),
          idsOf([plan]),
        )
      for (const reference of ['Plan', 'Plan-Ünï', '%25', '_', '*', "' or 1=1 --"])
        assert.deepEqual(await found(api, `reference=${encodeURIComponent(reference)}`), [])
    })

    test('an agreement search finds agreements by status and by status and reference together', async () => {
      const api = await service().newAccount()
      const created = await createAgreement(api, { reference: 'a' })
      const active = await activeAgreement(api)
      const cancelled = await createAgreement(api, { reference: 'a' })
      await cancelAgreement(api, cancelled)
      assert.deepEqual(await found(api, 'status=created'), idsOf([created]))
      assert.deepEqual(await found(api, 'status=active'), idsOf([active]))
      assert.deepEqual(await found(api, 'status=cancelled'), idsOf([cancelled]))
      assert.deepEqual(await found(api, 'status=inactive'), [])
      assert.deepEqual(await found(api, 'status=cancelled&reference=A'), idsOf([cancelled]))
      assert.deepEqual(await found(api, 'status=active&reference=a'), [])
      assert.equal((await found(api, 'status=&reference=%20')).length, 3)
      assert.deepEqual(await found(api, 'status=created&status=active'), idsOf([created]))
    })

    test('an agreement search has pages of up to 500 results that link to one another', async () => {
      const api = await service().newAccount()
      const fifty = (start: number) =>
        Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            createAgreement(api, { reference: `r${start + i}` }),
          ),
        )
      for (let i = 0; i < 501; i += 50) await fifty(i)
      const first = (await api.get('/v1/agreements')).body
      assert.deepEqual([first.total, first.count, first.page], [550, 500, 1])
      assert.equal(first.results.length, 500)
      const { origin } = new URL(first._links.self.href)
      const link = (page: number) => ({
        href: `${origin}/v1/agreements?page=${page}&display_size=500`,
        method: 'GET',
      })
      assert.deepEqual(first._links, {
        self: link(1),
        first_page: link(1),
        last_page: link(2),
        next_page: link(2),
      })
      const second = (await api.get(first._links.next_page.href)).body
      assert.deepEqual([second.total, second.count, second.page], [550, 50, 2])
      assert.deepEqual(second._links, {
        self: link(2),
        first_page: link(1),
        last_page: link(2),
        prev_page: link(1),
      })
      const all = idsOf([...first.results, ...second.results])
      assert.equal(new Set(all).size, 550)
      assert.deepEqual(all, [...all].sort().reverse())
      assertError(await api.get('/v1/agreements?page=3'), 404, 'P2402')
    })

    test('the links of an agreement search contain its filters, percent-encoded and in order', async () => {
      const api = await service().newAccount()
      await createAgreement(api, { reference: 'a&b =é' })
      const { body } = await api.get(
        '/v1/agreements?x=1&display_size=7&reference=a%26b%20=%C3%A9&status=created&page=',
      )
      const { origin } = new URL(body._links.self.href)
      assert.equal(
        body._links.self.href,
        `${origin}/v1/agreements?status=created&reference=a%26b%20%3D%C3%A9&page=1&display_size=7`,
      )
      assert.equal((await api.get(body._links.self.href)).body.total, 1)
    })

    test('an agreement search without results returns any page, and one with results returns 404 P2402 past its last page', async () => {
      const api = await service().newAccount()
      const { status, body } = await api.get('/v1/agreements?page=7')
      assert.equal(status, 200)
      assert.deepEqual([body.total, body.count, body.page, body.results], [0, 0, 7, []])
      assert.match(body._links.prev_page.href, /page=1&/)
      assert.match(body._links.last_page.href, /page=1&/)
      assert.ok(!('next_page' in body._links))
      await createAgreement(api)
      for (const page of [2, 2147483647])
        assertError(await api.get(`/v1/agreements?page=${page}`), 404, 'P2402')
    })

    for (const query of [
      'page=0',
      'page=-1',
      'page=1.5',
      'page=one',
      'page=2147483648',
      'page=%2B1',
      'display_size=0',
      'display_size=501',
      'display_size=1e2',
      'status=Active',
      'status=unknown',
      'reference=%00',
      `reference=${'x'.repeat(256)}`,
    ])
      test(`an agreement search returns 422 P2401 for ${query.slice(0, 40)}`, async () => {
        assertError(
          await (await service().newAccount()).get(`/v1/agreements?${query}`),
          422,
          'P2401',
        )
      })

    test('the error of an agreement search lists all wrong parameters in their order', async () => {
      const api = await service().newAccount()
      const wrong = `display_size=0&page=0&reference=${'x'.repeat(256)}&status=x`
      const answer = await api.get(`/v1/agreements?${wrong}`)
      assertError(answer, 422, 'P2401')
      assert.deepEqual(answer.body.description.match(/status|reference|page|display_size/g), [
        'status',
        'reference',
        'page',
        'display_size',
      ])
    })
  },
  { control: true },
)
