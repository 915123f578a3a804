import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behaviours } from '../../../src/core/account.ts'
import { currentOwner } from '../../../src/core/guests.ts'
import type { Send } from '../../../src/core/ports.ts'
import { accountOfName } from '../../../src/platform/accounts/store.ts'
import type { Body, Client } from '../../support/client.ts'
import { instanceOn, resultOf } from '../../support/held-send.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { planning } from '../../support/plans.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { mockQueries } from '../../support/watched.ts'

let sent: string[] = []
const send: Send = async ({ body }) => {
  sent.push(JSON.parse(body).resource.reference)
  return resultOf(200)
}

onEveryDatabase('Plans that send messages later', { control: true, send }, service => {
  const { control, plan, counts } = planning(service)

  async function hooked(behaviour: (typeof behaviours)[number] = 'govuk-pay') {
    const { api, name } = await service().namedAccount(behaviour)
    await control(api, 'webhooks', { callback_url: 'https://hooks.example.org/' })
    sent = []
    return { api, name }
  }

  async function hookMore(api: Client, count: number) {
    for (let i = 0; i < count; i++)
      await control(api, 'webhooks', { callback_url: `https://${i}.example.org/` })
  }

  /** Causes one message, and resolves to it once its first attempt was made or left to a plan. */
  async function cancelled(api: Client, reference: string): Promise<Body> {
    const { payment_id } = await cancelledPayment(api, { reference })
    for (const { deliveries } of service().apps) await deliveries.settled()
    return (await control(api, `messages?payment_id=${payment_id}`)).body.results[0]
  }

  for (const behaviour of behaviours)
    test(`A message comes later in the time of its account, and the request does not wait for it: ${behaviour}`, async () => {
      const { api } = await hooked(behaviour)
      await plan(api, { on: 'message', delay: 20_000 })
      const message = await cancelled(api, 'late')
      const due = Date.parse(message.at) + 20_000
      assert.deepEqual([message.delivery, message.attempts], ['PENDING', []])
      assert.equal(Date.parse(message.next_attempt), due)
      await cancelled(api, 'next')
      await api.advance(19_999)
      assert.deepEqual(sent, ['next'])
      await api.advance(1)
      assert.deepEqual(sent, ['next', 'late'])
      const { body } = await control(api, `messages?message_id=${message.message_id}`)
      const [{ delivery, attempts }] = body.results
      const made = attempts.map(({ created_date }: Body) => Date.parse(created_date))
      assert.deepEqual([delivery, made], ['SUCCESSFUL', [due]])
      assert.deepEqual(await counts(api), [[2, 1]])
    })

  test('Messages are counted by the payment that they are about', async () => {
    const { api } = await hooked()
    const given = { reference: 'R-7' }
    await plan(api, { on: 'message', given, skip: 1, times: 2, delay: [10, 20] })
    await plan(api, { delay: 1, skip: 99 })
    for (const reference of ['R-7', 'R-7', 'R-8', 'R-7', 'R-7']) await cancelled(api, reference)
    assert.deepEqual(sent, ['R-7', 'R-8', 'R-7'])
    await api.advance(20)
    assert.deepEqual(sent, ['R-7', 'R-8', 'R-7', 'R-7', 'R-7'])
    assert.deepEqual(await counts(api), [
      [4, 2],
      [10, 0],
    ])
  })

  test('Messages of one moment are counted together, each as if it came alone', async t => {
    const { api } = await hooked()
    await hookMore(api, 59)
    await plan(api, { on: 'message', skip: 57, delay: 1 })
    const { mock } = t.mock.method(service().database, 'query')
    await cancelled(api, 'sixty')
    assert.ok(mock.callCount() < 40, `${mock.callCount()} queries`)
    assert.equal(sent.length, 59)
    await api.advance(1)
    assert.deepEqual([sent.length, await counts(api)], [60, [[60, 1]]])
  })

  test('Messages that wait where an account was reset do not hold up those of others', async t => {
    const { api } = await hooked()
    await hookMore(api, 99)
    await plan(api, { on: 'message', delay: 1, times: 'always' })
    await cancelled(api, 'before the reset')
    await control(api, 'reset', {})
    service().clock.advance(1)
    const { api: other, name } = await hooked()
    await plan(other, { on: 'message', delay: 1 })
    await cancelled(other, 'other')
    service().clock.advance(1)
    // Its queries wait in the queue of its account, not in that of unknown keys.
    const owners = new Set<string>()
    mockQueries(t, service().database, query => {
      owners.add(currentOwner())
      return query()
    })
    const { doAllDue } = instanceOn(service(), send)
    for (let looks = 0; sent.length === 0 && looks < 100; looks++) await doAllDue()
    assert.deepEqual([sent, owners.has(name)], [['other'], true])
  })

  test('After a restart the message is sent when it is due, once, and its plan is not asked again', async () => {
    const { api, name } = await hooked()
    await plan(api, { on: 'message', delay: 20_000, times: 'always' })
    await cancelled(api, 'late')
    const [one, other] = [instanceOn(service(), send), instanceOn(service(), send)]
    await one.recover()
    assert.deepEqual(sent, [])
    service().clock.advance(20_000)
    const account = (await accountOfName(service().database, name)) ?? assert.fail('no account')
    await Promise.all([one, other].map(each => each.doDue(account)))
    assert.deepEqual(sent, ['late'])
    assert.deepEqual(await counts(api), [[1, 1]])
  })
})
