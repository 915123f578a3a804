import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createNewId } from '../../../src/core/ids.ts'
import { createTime } from '../../../src/core/time.ts'
import { createKey } from '../../../src/platform/accounts/store.ts'
import { assertError } from '../../support/assertions.ts'
import { type Body, type Client, webPayment } from '../../support/client.ts'
import { askFor, ofOneThing } from '../../support/endpoints.ts'
import { payOnPages } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

const unknown = ['0'.repeat(26), 'x', '%00', '%20', "';drop", 'é', '..%2f', 'x'.repeat(5_000)]

onSharedDatabases('Accounts: isolation', service => {
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

  test('another account gets 404 at every path with an identifier, as every account for one that does not exist, and changes nothing', async () => {
    const open = await mine.createPayment()
    const waiting = await payOnPages(mine, await mine.createPayment({ delayed_capture: true }))
    const all = [payment, open, waiting].map(({ payment_id }) => `/v1/payments/${payment_id}`)
    all.push(`/v1/agreements/${agreement_id}`, `/v1/webhooks/${webhook_id}`)
    const bodies = () => Promise.all(all.map(async path => (await mine.get(path)).body))
    const before = await bodies()
    for (const { name, code } of ofOneThing) {
      const acted = { cancel: open, capture: waiting }[name.split('/').at(-1) ?? ''] ?? payment
      const ids: Body = { ...acted, refund_id: refund.refund_id, agreement_id, webhook_id }
      const refused = await askFor(other, name, id => ids[id])
      assertError(refused, 404, code)
      const similar = (id: string) => [id.toUpperCase(), id.slice(1), `${id}0`, `${id}%00`]
      for (const id of unknown)
        assert.equal((await askFor(mine, name, () => id)).text, refused.text, `${name} ${id}`)
      for (const i of similar('').keys())
        assertError(await askFor(mine, name, id => similar(ids[id])[i] ?? ''), 404, code)
    }
    assert.deepEqual(await bodies(), before)
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

  test('every key of an account reaches its payments', async () => {
    const { database, anonymous } = service()
    const ports = { database, time: createTime(), newId: createNewId() }
    const [one, two] = [await createKey(ports, 'shared'), await createKey(ports, 'shared')]
    const headers = (key: string) => ({ Authorization: `Bearer ${key}` })
    const made = await anonymous.post('/v1/payments', webPayment, headers(one.key))
    assert.equal(made.status, 201)
    const path = `/v1/payments/${made.body.payment_id}`
    assert.equal((await anonymous.get(path, headers(two.key))).status, 200)
  })
})
