import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import { type Client, webPayment } from '../../support/client.ts'
import {
  activeAgreement,
  agreementParts,
  assertAnswer,
  HEADER,
  motoParts,
  type Parts,
  postPayment,
  webParts,
} from '../../support/new-payment.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onSharedDatabases } from '../../support/service.ts'

const SEVEN_DAYS = 7 * 24 * 60 * 60 * 1000
const USED = `409 P0191 ${HEADER}`

onSharedDatabases('Payments: idempotency key', { control: true }, service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const total = async () => (await api.get('/v1/payments')).body.total
  const newKey = () => crypto.randomUUID()

  test('an idempotency key that created a payment returns 409 P0191 from then on, whatever the body', async () => {
    const key = { [HEADER]: newKey() }
    await assertAnswer(api, { ...webParts, ...key }, '201')
    const before = await total()
    await assertAnswer(api, { ...webParts, ...key }, USED)
    await assertAnswer(api, { ...webParts, amount: '1', ...key }, USED)
    await assertAnswer(api, { ...motoParts, ...key }, USED)
    assert.equal(await total(), before)
  })

  test('idempotency keys that differ in letter case are different keys', async () => {
    const key = `k${newKey()}`
    await assertAnswer(api, { ...webParts, [HEADER]: key.toLowerCase() }, '201')
    await assertAnswer(api, { ...webParts, [HEADER]: key.toUpperCase() }, '201')
  })

  test('two accounts may use the same idempotency key', async () => {
    const key = { [HEADER]: newKey() }
    await assertAnswer(api, { ...webParts, ...key }, '201')
    await assertAnswer(await service().newAccount(), { ...webParts, ...key }, '201')
  })

  test('a refused request does not use up its idempotency key', async () => {
    const agreement = agreementParts('06g5petm8gpatdosqb0u8c1mv7')
    for (const [parts, expected] of [
      [{ ...webParts, amount: undefined }, '400 P0101 amount'],
      [{ ...webParts, reference: '"\\u0000"' }, '422 P0102 reference'],
      [{ ...webParts, return_url: undefined }, '400 P0101 return_url'],
      [agreement, '400 P0102 agreement_id'],
    ] as [Parts, string][]) {
      const key = { [HEADER]: newKey() }
      await assertAnswer(api, { ...parts, ...key }, expected)
      await assertAnswer(api, { ...webParts, ...key }, '201')
    }
  })

  test('two Idempotency-Key headers return 422 P0102, even when they are equal', async () => {
    for (const keys of [
      ['a', 'b'],
      ['a', 'a'],
      ['', ''],
    ]) {
      const answer = await sendRaw(
        service().baseUrl,
        [
          'POST /v1/payments HTTP/1.1',
          `Authorization: Bearer ${api.key}`,
          'Content-Type: application/json',
          ...keys.map(key => `Idempotency-Key: ${key}`),
          `Content-Length: ${JSON.stringify(webPayment).length}`,
        ],
        JSON.stringify(webPayment),
      )
      assertError(answer, 422, 'P0102', { header: HEADER })
    }
  })

  test('20 requests at once with one idempotency key create one payment: one 201 and 19 times 409', async () => {
    const agreement = agreementParts(await activeAgreement(api))
    for (const parts of [webParts, agreement]) {
      const key = { [HEADER]: newKey() }
      const before = await total()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => postPayment(api, { ...parts, ...key })),
      )
      const statuses = answers.map(answer => answer.status).sort()
      assert.deepEqual(statuses, [201, ...Array(19).fill(409)])
      for (const answer of answers)
        if (answer.status === 409) assertError(answer, 409, 'P0191', { header: HEADER })
      assert.equal(await total(), before + 1)
    }
  })

  test('an idempotency key is free again after its payment expired at 7 days, and not before', async () => {
    const key = { [HEADER]: newKey() }
    await assertAnswer(api, { ...webParts, ...key }, '201')
    await api.advance(SEVEN_DAYS - 1)
    await assertAnswer(api, { ...webParts, ...key }, USED)
    await api.advance(1)
    await assertAnswer(api, { ...webParts, ...key }, '201')
    await assertAnswer(api, { ...webParts, ...key }, USED)
    await api.advance(SEVEN_DAYS)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post('/v1/payments', webPayment, key)),
    )
    assert.equal(answers.filter(answer => answer.status === 201).length, 1)
  })
})
