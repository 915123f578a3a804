import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createKey } from '../../../src/accounts/store.ts'
import { createNewId } from '../../../src/ids.ts'
import { assertError } from '../../support/assertions.ts'
import { type Body, type Client, webPayment } from '../../support/client.ts'
import { payOnPages, read } from '../../support/journeys.ts'
import { activeAgreement, newAgreement } from '../../support/new-payment.ts'
import { onEveryDatabase } from '../../support/service.ts'

onEveryDatabase('What belongs to one account', service => {
  let mine: Client
  let other: Client
  let payment: Body
  let refund: Body
  let agreement_id = ''
  let webhook_id = ''

  before(async () => {
    mine = await service().newAccount()
    other = await service().newAccount()
    agreement_id = await activeAgreement(mine)
    payment = await payOnPages(mine, await mine.createPayment())
    refund = (await mine.post(payment._links.refunds.href, { amount: 1 })).body
    const callback_url = 'https://hooks.example.org/'
    webhook_id = (await mine.post('/v1/webhooks', { callback_url })).body.external_id
  })

  describe('is unknown to another:', () => {
    test('a payment, its events and its refunds', async () => {
      const { href } = payment._links.self
      assertError(await other.get(href), 404, 'P0200')
      assertError(await other.get(`${href}/events`), 404, 'P0300')
      assertError(await other.get(`${href}/refunds`), 404, 'P0800')
      assertError(await other.get(`${href}/refunds/${refund.refund_id}`), 404, 'P0700')
    })

    test('a payment to cancel, to capture or to refund, and it stays as it is', async () => {
      const open = await mine.createPayment()
      const waiting = await payOnPages(mine, await mine.createPayment({ delayed_capture: true }))
      assertError(await other.post(open._links.cancel.href), 404, 'P0500')
      assertError(await other.post(waiting._links.capture.href), 404, 'P1000')
      assertError(await other.post(payment._links.refunds.href, { amount: 1 }), 404, 'P0600')
      assert.deepEqual(await read(mine, open), open)
      assert.deepEqual(await read(mine, waiting), waiting)
      assert.equal((await read(mine, payment)).refund_summary.amount_submitted, 1)
    })

    test('an agreement', async () => {
      assertError(await other.get(`/v1/agreements/${agreement_id}`), 404, 'P2200')
      assertError(await other.post(`/v1/agreements/${agreement_id}/cancel`), 404, 'P2500')
      assert.equal((await mine.get(`/v1/agreements/${agreement_id}`)).body.status, 'active')
    })

    test('an agreement to pay with or to set up', async () => {
      const { return_url, ...fields } = webPayment
      const use = { ...fields, authorisation_mode: 'agreement', agreement_id }
      const setUp = { ...webPayment, set_up_agreement: agreement_id }
      const field = (name: string) => ({ field: name })
      assertError(await other.post('/v1/payments', use), 400, 'P0102', field('agreement_id'))
      assertError(await other.post('/v1/payments', setUp), 400, 'P0103', field('set_up_agreement'))
    })

    test('a webhook and its messages', async () => {
      const path = `/v1/webhooks/${webhook_id}`
      for (const answer of [
        await other.get(path),
        await other.delete(path),
        await other.get(`${path}/messages`),
      ])
        assertError(answer, 404, 'P2700')
      assert.equal((await mine.get(path)).body.status, 'ACTIVE')
    })
  })

  test('is in no search of another', async () => {
    for (const path of ['payments', 'refunds', 'agreements', 'webhooks']) {
      const { body } = await other.get(`/v1/${path}`)
      assert.deepEqual([body.total, body.results], [0, []], path)
      assert.ok((await mine.get(`/v1/${path}`)).body.total > 0, path)
    }
    const by = `agreement_id=${agreement_id}&reference=PITCH-2207`
    assert.equal((await other.get(`/v1/payments?${by}`)).body.total, 0)
  })

  test('is not told to the webhooks of another', async () => {
    const callback_url = 'https://hooks.example.org/'
    const { body } = await other.post('/v1/webhooks', { callback_url })
    const told = async (api: Client, id: string) =>
      (await api.get(`/v1/webhooks/${id}/messages`)).body.total
    const before = await told(mine, webhook_id)
    await mine.post((await mine.createPayment())._links.cancel.href)
    assert.equal(await told(other, body.external_id), 0)
    assert.equal(await told(mine, webhook_id), before + 1)
  })

  test('answers as if it never was: the text of the error is the same', async () => {
    const never = '06g5petm8gpatdosqb0u8c1mv7'
    const unknown = await other.get(`/v1/payments/${never}`)
    const foreign = await other.get(`/v1/payments/${payment.payment_id}`)
    assert.equal(foreign.text, unknown.text)
  })

  test('is not the disputes: every account sees the same four', async () => {
    const [one, another] = [await mine.get('/v1/disputes'), await other.get('/v1/disputes')]
    assert.equal(one.body.total, 4)
    assert.deepEqual(another.body, one.body)
  })

  test('may be reached by each key of the account', async () => {
    const { database, clock, anonymous } = service()
    const ports = { database, clock: clock.now, newId: createNewId() }
    const [one, two] = [await createKey(ports, 'shared'), await createKey(ports, 'shared')]
    const headers = (key: string) => ({ Authorization: `Bearer ${key}` })
    const made = await anonymous.post('/v1/payments', webPayment, headers(one.key))
    assert.equal(made.status, 201)
    const path = `/v1/payments/${made.body.payment_id}`
    assert.equal((await anonymous.get(path, headers(two.key))).status, 200)
  })

  test('keeps agreements apart that have the same reference', async () => {
    const theirs = await newAgreement(other)
    const { body } = await other.get('/v1/agreements?reference=plan-8')
    assert.deepEqual(
      body.results.map((each: Body) => each.agreement_id),
      [theirs],
    )
  })
})
