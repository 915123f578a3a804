import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError, briefOf } from '../../support/assertions.ts'
import type { Client } from '../../support/client.ts'
import {
  activeAgreement,
  agreementParts,
  assertAnswer,
  bodyText,
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

  test('an idempotency key that created a payment returns 409 P0191 from then on, whatever the body, and is free for another account and in other letter case', async () => {
    const key = { [HEADER]: `k${newKey()}` }
    await assertAnswer(api, { ...webParts, ...key }, '201')
    for (const parts of [webParts, { ...webParts, amount: '1' }, motoParts])
      await assertAnswer(api, { ...parts, ...key }, USED)
    await assertAnswer(api, { ...webParts, [HEADER]: key[HEADER].toUpperCase() }, '201')
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
    const head = ['POST /v1/payments HTTP/1.1', `Authorization: Bearer ${api.key}`]
    for (const second of ['a', 'b']) {
      const keys = ['a', second].map(key => `${HEADER}: ${key}`)
      const answer = await sendRaw(service().baseUrl, [...head, ...keys], bodyText(webParts))
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
      assert.deepEqual(answers.map(briefOf).sort(), ['201', ...Array(19).fill(USED)])
      assert.equal(await total(), before + 1)
    }
  })

  test('an idempotency key is free again after its payment expired at 7 days, and not before, also for one of 20 requests at once', async () => {
    const parts = { ...webParts, [HEADER]: newKey() }
    await assertAnswer(api, parts, '201')
    await api.advance(SEVEN_DAYS - 1)
    await assertAnswer(api, parts, USED)
    await api.advance(1)
    const answers = await Promise.all(Array.from({ length: 20 }, () => postPayment(api, parts)))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  })
})
