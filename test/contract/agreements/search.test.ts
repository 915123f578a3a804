import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeAgreement, cancelAgreement, createAgreement } from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

async function found(api: Client, query: string): Promise<string[]> {
  const { status, body, text } = await api.get(`/v1/agreements?${query}`)
  assert.equal(status, 200, text)
  return body.results.map(({ agreement_id }: Body) => agreement_id)
}

const idsOf = (agreements: Body[]): string[] => agreements.map(({ agreement_id }) => agreement_id)

onSharedDatabases('Agreements: search', { control: true }, service => {
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
})

onOneDatabase('Agreements: wrong searches', service => {
  test('an agreement search returns 422 P2401 for a wrong parameter', async () => {
    const api = await service().newAccount()
    for (const query of [
      'page=0',
      'status=Active',
      'reference=%00',
      `reference=${'x'.repeat(256)}`,
    ])
      assertError(await api.get(`/v1/agreements?${query}`), 422, 'P2401')
  })
})
