import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeAgreement,
  cancelAgreement,
  createAgreement,
  payByAgreement,
  readAgreement,
  setUpPayment,
} from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { payOnPages } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'
import { interleaving } from '../../support/watched.ts'

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

/** Requests with several errors each. The named error comes first in the order of checks. */
const order: Fault[] = [
  [{ reference: '', description: 1 }, 400, 'P2101', 'reference'],
  [{ reference: 1, description: '' }, 400, 'P2102', 'reference'],
  [{ reference: long, description: null }, 400, 'P2101', 'description'],
  [{ reference: long, user_identifier: 1 }, 400, 'P2102', 'user_identifier'],
  [{ reference: long, description: long, user_identifier: '' }, 422, 'P0102', 'reference'],
  [{ description: long, user_identifier: '' }, 422, 'P0102', 'description'],
]

async function found(api: Client, query: string): Promise<string[]> {
  const { status, body, text } = await api.get(`/v1/agreements?${query}`)
  assert.equal(status, 200, text)
  return body.results.map(({ agreement_id }: Body) => agreement_id)
}

const idsOf = (agreements: Body[]): string[] => agreements.map(({ agreement_id }) => agreement_id)

onSharedDatabases('Agreements: create, cancel and search', { control: true }, service => {
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

  // test/faults/races.test.ts cancels several times at the same moment.
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

  test('an agreement search returns the agreements of the account, newest first, each as GET does', async () => {
    const api = await service().newAccount()
    const made: Body[] = []
    for (let i = 0; i < 3; i++) {
      await api.advance(1)
      made.unshift(await createAgreement(api, { reference: `PLAN-${i}`, user_identifier: 'm' }))
    }
    await api.advance(1)
    made.unshift(await activeAgreement(api))
    const { body } = await api.get('/v1/agreements')
    assert.deepEqual(body.results, made)
  })

  test('an agreement search by reference compares the whole text and ignores case', async () => {
    const api = await service().newAccount()
    const plan = await createAgreement(api, { reference: 'Plan-Ünï_100%' })
    await createAgreement(api, { reference: 'Plan-Ünï_100% and more' })
    await createAgreement(api, { reference: 'PlanXÜnïX100X' })
    for (const whole of ['Plan-Ünï_100%', 'PLAN-ÜNÏ_100%', 'plan-ünï_100%'])
      assert.deepEqual(await found(api, `reference=${encodeURIComponent(whole)}`), idsOf([plan]))
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

  test('an agreement cancelled while a payment with it is being made refuses the payment', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const agreement = await activeAgreement(api)
    beforeWrite(async () => {
      assert.equal((await cancelAgreement(api, agreement)).status, 204)
    })
    const headers = { 'Idempotency-Key': 'late' }
    const refused = await payByAgreement(api, agreement, {}, headers)
    assertError(refused, 400, 'P0102', { field: 'agreement_id' })
    const listed = await api.get(`/v1/payments?agreement_id=${agreement.agreement_id}`)
    assert.equal(listed.body.total, 1, 'only the payment that set it up')
    const other = await payByAgreement(api, await activeAgreement(api), {}, headers)
    assert.equal(other.status, 201, 'the idempotency key is not used up')
  })

  test('a card replaced while a payment with the agreement is being made is the card of the payment', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const agreement = await activeAgreement(api)
    const setUp = await setUpPayment(api, agreement, {
      prefilled_cardholder_details: { cardholder_name: 'New Card' },
    })
    beforeWrite(() => payOnPages(api, setUp))
    const { status, body } = await payByAgreement(api, agreement)
    assert.equal(status, 201)
    assert.equal(body.card_details.cardholder_name, 'New Card')
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
