import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createNewId } from '../../../src/core/ids.ts'
import { createKey } from '../../../src/platform/accounts/store.ts'
import { assertError } from '../../support/assertions.ts'
import { type Body, type Client, webPayment } from '../../support/client.ts'
import { payOnPages, read } from '../../support/journeys.ts'
import { activeAgreement, newAgreement } from '../../support/new-payment.ts'
import { onEveryDatabase } from '../../support/service.ts'

onEveryDatabase('Accounts: isolation', service => {
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

  test('another account gets 404 for a payment, its events and its refunds', async () => {
    const { href } = payment._links.self
    assertError(await other.get(href), 404, 'P0200')
    assertError(await other.get(`${href}/events`), 404, 'P0300')
    assertError(await other.get(`${href}/refunds`), 404, 'P0800')
    assertError(await other.get(`${href}/refunds/${refund.refund_id}`), 404, 'P0700')
  })

  test('another account gets 404 when it cancels, captures or refunds a payment, which stays unchanged', async () => {
    const open = await mine.createPayment()
    const waiting = await payOnPages(mine, await mine.createPayment({ delayed_capture: true }))
    assertError(await other.post(open._links.cancel.href), 404, 'P0500')
    assertError(await other.post(waiting._links.capture.href), 404, 'P1000')
    assertError(await other.post(payment._links.refunds.href, { amount: 1 }), 404, 'P0600')
    assert.deepEqual(await read(mine, open), open)
    assert.deepEqual(await read(mine, waiting), waiting)
    assert.equal((await read(mine, payment)).refund_summary.amount_submitted, 1)
  })

  test('another account gets 404 for an agreement', async () => {
    assertError(await other.get(`/v1/agreements/${agreement_id}`), 404, 'P2200')
    assertError(await other.post(`/v1/agreements/${agreement_id}/cancel`), 404, 'P2500')
    assert.equal((await mine.get(`/v1/agreements/${agreement_id}`)).body.status, 'active')
  })

  test('another account cannot pay with an agreement or set it up', async () => {
    const { return_url, ...fields } = webPayment
    const use = { ...fields, authorisation_mode: 'agreement', agreement_id }
    const setUp = { ...webPayment, set_up_agreement: agreement_id }
    const field = (name: string) => ({ field: name })
    assertError(await other.post('/v1/payments', use), 400, 'P0102', field('agreement_id'))
    assertError(await other.post('/v1/payments', setUp), 400, 'P0103', field('set_up_agreement'))
  })

  test('another account gets 404 for a webhook and its messages', async () => {
    const path = `/v1/webhooks/${webhook_id}`
    for (const answer of [
      await other.get(path),
      await other.delete(path),
      await other.get(`${path}/messages`),
    ])
      assertError(answer, 404, 'P2700')
    assert.equal((await mine.get(path)).body.status, 'ACTIVE')
  })

  test('another account gets 404 at every path of /openapi.json with an identifier', async () => {
    const { payment_id } = payment
    const ids: Body = { payment_id, refund_id: refund.refund_id, agreement_id, webhook_id }
    const { paths } = (await other.get('/openapi.json')).body
    for (const [path, methods] of Object.entries<Body>(paths)) {
      if (!/^\/v1\/.*\{/.test(path)) continue
      const asked = path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? assert.fail(path))
      for (const method of Object.keys(methods)) {
        const body = method === 'post' ? { body: '{"amount":1}' } : {}
        const headers = { 'Content-Type': 'application/json' }
        const { status } = await other.request(method.toUpperCase(), asked, { headers, ...body })
        assert.equal(status, 404, `${method} ${path}`)
      }
    }
  })

  test('no search of an account finds anything of another account', async () => {
    for (const path of ['payments', 'refunds', 'agreements', 'webhooks']) {
      const { body } = await other.get(`/v1/${path}`)
      assert.deepEqual([body.total, body.results], [0, []], path)
      assert.ok((await mine.get(`/v1/${path}`)).body.total > 0, path)
    }
    const by = `agreement_id=${agreement_id}&reference=PITCH-2207`
    assert.equal((await other.get(`/v1/payments?${by}`)).body.total, 0)
  })

  test('the webhooks of an account receive nothing about another account', async () => {
    const callback_url = 'https://hooks.example.org/'
    const { body } = await other.post('/v1/webhooks', { callback_url })
    const messageCount = async (api: Client, id: string) =>
      (await api.get(`/v1/webhooks/${id}/messages`)).body.total
    const before = await messageCount(mine, webhook_id)
    await mine.post((await mine.createPayment())._links.cancel.href)
    assert.equal(await messageCount(other, body.external_id), 0)
    assert.equal(await messageCount(mine, webhook_id), before + 1)
  })

  test('the error for a payment of another account is the same as for an unknown payment', async () => {
    const never = '06g5petm8gpatdosqb0u8c1mv7'
    const unknown = await other.get(`/v1/payments/${never}`)
    const foreign = await other.get(`/v1/payments/${payment.payment_id}`)
    assert.equal(foreign.text, unknown.text)
  })

  test('every key of an account reaches its payments', async () => {
    const { database, time, anonymous } = service()
    const ports = { database, time, newId: createNewId() }
    const [one, two] = [await createKey(ports, 'shared'), await createKey(ports, 'shared')]
    const headers = (key: string) => ({ Authorization: `Bearer ${key}` })
    const made = await anonymous.post('/v1/payments', webPayment, headers(one.key))
    assert.equal(made.status, 201)
    const path = `/v1/payments/${made.body.payment_id}`
    assert.equal((await anonymous.get(path, headers(two.key))).status, 200)
  })

  test('two accounts may have agreements with the same reference', async () => {
    const theirs = await newAgreement(other)
    const { body } = await other.get('/v1/agreements?reference=plan-8')
    assert.deepEqual(
      body.results.map((each: Body) => each.agreement_id),
      [theirs],
    )
  })
})
