import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeAgreement,
  cancelAgreement,
  createAgreement,
  readAgreement,
} from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const good = { reference: 'PLAN-8', description: 'Monthly plan', user_identifier: 'member-118' }

type Fault = [fields: Record<string, unknown>, status: number, code: string, field: string]

const wrong = (fields: string[], status: number, code: string, ...values: unknown[]): Fault[] =>
  fields.flatMap(field => values.map((value): Fault => [{ [field]: value }, status, code, field]))

const REQUIRED = ['reference', 'description']
const long = 'x'.repeat(256)
const faults: Fault[] = [
  ...wrong(REQUIRED, 400, 'P2101', undefined, null, '', ' \n '),
  ...wrong(REQUIRED, 400, 'P2102', 1, false, {}, 'a<b', 'a>b', 'a|b'),
  ...wrong(['user_identifier'], 400, 'P2102', 1, {}),
  ...wrong([...REQUIRED, 'user_identifier'], 422, 'P0102', long, '\0', 'a\ud800'),
  ...wrong(['user_identifier'], 422, 'P0102', ''),
]

/** Requests with several errors each. The error named here comes first in the order of checks. */
const order: Fault[] = [
  [{ reference: '', description: 1 }, 400, 'P2101', 'reference'],
  [{ reference: 1, description: '' }, 400, 'P2102', 'reference'],
  [{ reference: long, description: null }, 400, 'P2101', 'description'],
  [{ reference: long, user_identifier: 1 }, 400, 'P2102', 'user_identifier'],
  [{ reference: long, description: long, user_identifier: '' }, 422, 'P0102', 'reference'],
  [{ description: long, user_identifier: '' }, 422, 'P0102', 'description'],
]

onSharedDatabases('Agreements: create and cancel', { control: true }, service => {
  test('POST /v1/agreements creates an agreement in status created, and GET returns the same body', async () => {
    const api = await service().newAccount()
    const { status, body } = await api.post('/v1/agreements', { ...good, nonsense: [1] })
    assert.equal(status, 201)
    assert.match(body.agreement_id, /^[0-9a-v]{26}$/)
    assert.deepEqual(body, {
      agreement_id: body.agreement_id,
      ...good,
      status: 'created',
      created_date: new Date(await api.now()).toISOString(),
    })
    assert.deepEqual((await api.get(`/v1/agreements/${body.agreement_id}`)).body, body)
    assert.equal((await api.request('HEAD', `/v1/agreements/${body.agreement_id}`)).status, 200)
  })

  test('the texts of an agreement are kept as sent, from 1 to 255 characters, without a user_identifier that is null or not given', async () => {
    const api = await service().newAccount()
    for (const user_identifier of [undefined, null])
      assert.ok(!('user_identifier' in (await createAgreement(api, { user_identifier }))))
    for (const text of ['x', 'é'.repeat(255), ' "Ünïcode" & \' \\ 😀 ']) {
      const given = { reference: text, description: text, user_identifier: text }
      const made = await createAgreement(api, given)
      const { reference, description, user_identifier } = await readAgreement(api, made)
      assert.deepEqual({ reference, description, user_identifier }, given)
    }
    for (const user_identifier of ['<|> ', ' '])
      assert.equal(
        (await createAgreement(api, { user_identifier })).user_identifier,
        user_identifier,
      )
  })

  // test/faults/races.test.ts cancels at once.
  test('POST cancel returns 204 for a created or active agreement, which then has the date and keeps its payment instrument, and later 400 P2501', async () => {
    const api = await service().newAccount()
    for (const agreement of [await createAgreement(api), await activeAgreement(api)]) {
      await api.advance(1_234)
      const answer = await cancelAgreement(api, agreement)
      assert.deepEqual([answer.status, answer.text], [204, ''])
      const cancelled_date = new Date(await api.now()).toISOString()
      await api.advance(1_000)
      assertError(await cancelAgreement(api, agreement), 400, 'P2501')
      const cancelled = { ...agreement, status: 'cancelled', cancelled_date }
      assert.deepEqual(await readAgreement(api, agreement), cancelled)
    }
  })
})

onOneDatabase('Agreements: refused requests', service => {
  test('POST /v1/agreements returns the error of the first check that fails, with its field, and creates nothing', async () => {
    const api = await service().newAccount()
    for (const [fields, status, code, field] of [...faults, ...order]) {
      const answer = await api.post('/v1/agreements', { ...good, ...fields })
      assertError(answer, status, code, { field })
    }
    assert.equal((await api.get('/v1/agreements')).body.total, 0)
  })
})
