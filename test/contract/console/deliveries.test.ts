import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { newAccount } from '../../../src/core/account.ts'
import type { ToolContext } from '../../../src/tools/context.ts'
import { sendingAlone } from '../../../src/tools/deliver/resend.ts'
import { listDeliveries, messagesOfPayment } from '../../../src/tools/lists/webhooks-store.ts'
import type { Client } from '../../support/client.ts'
import { byId, type Console, enter, linkIn, rowsOf, type Shown } from '../../support/console.ts'
import { holdSends } from '../../support/held-send.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Answer } from '../../support/receiver.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { history, receiving, subscribe } from '../../support/subscriber.ts'
import { watchedService } from '../../support/watched.ts'

onEveryDatabase('The deliveries of all webhooks', receiving, service => {
  /** A receiver answers with `status` once `held` is over. */
  type Answers = { status: number; held: Promise<void> }
  const start = async () => {
    const answers: Answers = { status: 500, held: Promise.resolve() }
    return { ...(await enter(service())), answers }
  }
  const behaviour = (answers: Answers) => ({
    onRequest: ({ response }: Answer) =>
      void answers.held.then(() => response.writeHead(answers.status).end()),
  })
  const cancelled = async (api: Client): Promise<string> => {
    service().clock.advance(7)
    return (await cancelledPayment(api)).payment_id
  }
  const tail = async (api: Client) => (await cancelled(api)).slice(-6)
  const idsAndStatuses = (page: Shown) =>
    rowsOf(page).map(([id = '', , end = '']) => [id.slice(-6), /^[a-z]+/.exec(end)?.[0] ?? ''])
  const resent = async ({ get }: Console): Promise<string> => {
    for (;;) {
      const { text } = byId(await get('deliveries'), 'resent')
      if (!text.includes('Being sent')) return text.trim()
    }
  }

  test('messages are listed newest first, by webhook, event and status, in pages that lose none', async t => {
    const { api, browser, answers } = await start()
    const ours = await subscribe(t, api, { behaviour: behaviour(answers) })
    const failed = [await tail(api), await tail(api)]
    answers.status = 200
    const other = await subscribe(t, api, { subscriptions: ['card_payment_failed'] })
    const good: string[] = []
    for (let i = 0; i < 51; i++) good.push(await tail(api))
    const first = await browser.get('deliveries')
    const shown = idsAndStatuses(first)
    assert.deepEqual([shown.length, shown[0]], [50, [good[50], 'delivered']])
    const second = await browser.get(linkIn(first, 'Older'))
    const rest = [[good[0], 'delivered'], ...failed.reverse().map(id => [id, 'failed'])]
    assert.deepEqual([idsAndStatuses(second), linkIn(second, 'Older')], [rest, ''])
    assert.deepEqual(idsAndStatuses(await browser.get(linkIn(second, 'Newer'))), shown)
    for (const [query, count] of [
      ['status=FAILED', 2],
      ['status=SUCCESSFUL', 50],
      ['status=PENDING', 0],
      ['event=card_payment_cancelled&status=FAILED', 2],
      ['event=card_payment_failed', 0],
      [`webhook=${ours.webhook.external_id}`, 50],
      [`webhook=${other.webhook.external_id}`, 0],
      ['webhook=nonsense', 0],
    ] as const)
      assert.equal(idsAndStatuses(await browser.get(`deliveries?${query}`)).length, count, query)
    const none = await browser.get('deliveries?event=card_payment_failed')
    assert.match(none.text, /newest 500 messages of each webhook were looked through/)
    assert.match((await browser.get('webhooks')).text, /Last response Nothing was sent yet/)
    // Messages that a plan delays have no attempt, and there may be any number of them.
    const columns = 'webhook_id, payment_id, event_type, created, sent_as, status'
    const sql = `insert into webhook_messages (message_id, attempts, claimed_until, ${columns})
      select $1, '[]', 0, ${columns} from webhook_messages where webhook_id = $2 limit 1`
    for (let i = 0; i < 100; i++)
      await service().database.write([{ sql, values: [`zz${i}`, ours.webhook.external_id] }])
    const { text } = await browser.get('webhooks')
    assert.match(text, /None of the newest messages was sent yet/)
  })

  test('all failed messages are sent again once, oldest first, and the page says what came of it', async t => {
    const { api, browser, answers } = await start()
    const { webhook, requests } = await subscribe(t, api, { behaviour: behaviour(answers) })
    const other = await subscribe(t, api, { behaviour: behaviour(answers) })
    const ids = [await cancelled(api), await cancelled(api), await cancelled(api)]
    await api.delete(`/v1/webhooks/${other.webhook.external_id}`)
    const page = await browser.get('deliveries')
    assert.equal(byId(page, 'send-all').text, 'Send all failed again (3)')
    const before = requests.length
    // The second press, at another instance, finds the run of the first.
    const { promise, resolve: release } = Promise.withResolvers<void>()
    answers.held = promise
    const [one, two] = await Promise.all([1, 2].map(() => browser.post('deliveries/resend')))
    release()
    assert.deepEqual([one?.done, two?.done].sort(), ['resending', 'resending-already'])
    const ended = /^Sent again at \d\d:\d\d: 3 of 3, none was accepted, 3 failed again\.$/
    assert.match(await resent(browser), ended)
    const paymentsOf = () =>
      requests.slice(before).map(({ body }) => JSON.parse(body).resource_id as string)
    assert.deepEqual(paymentsOf(), ids)
    answers.status = 200
    service().clock.advance(11)
    const ofOne = await browser.post('deliveries/resend', { webhook: webhook.external_id })
    assert.equal(ofOne.done, 'resending')
    assert.match(await resent(browser), /3 of 3, 3 were accepted\.$/)
    assert.deepEqual(paymentsOf(), [...ids, ...ids])
    const after = await browser.get('deliveries')
    // Messages of a deactivated webhook cannot be sent.
    assert.ok(!after.html.includes('id="send-all"'))
    assert.match(after.text, /failed, accepted since Sent again at \d\d:\d\d: 200 OK/)
    assert.equal((await browser.look('deliveries', page)).status, 200)
    assert.equal((await browser.post('deliveries/resend')).done, 'none-failed')
    for (const { last_delivery_status, attempts } of await history(api, webhook))
      assert.deepEqual([last_delivery_status, attempts.length], ['FAILED', 2])
  })

  test('a run whose instance ended says that it stopped, and can be begun again', async t => {
    const { api, browser, answers } = await start()
    const { requests } = await subscribe(t, api, { behaviour: behaviour(answers) })
    const payment_id = await cancelled(api)
    const at = service().clock.now()
    const body = JSON.stringify({ at, left: ['x', 'y'], accepted: 1, failed: 0, skipped: 0 })
    const sql = `insert into resends (account, claimed_until, body)
                   select account, $2, $3 from payments where payment_id = $1`
    await service().database.write([{ sql, values: [payment_id, at + 10_000, body] }])
    const text = async () => byId(await browser.get('deliveries'), 'resent').text.trim()
    const offersToSend = async () => [
      (await browser.get('deliveries')).html.includes('send-all'),
      (await browser.get('')).html.includes('Send all failed again'),
    ]
    assert.deepEqual(await offersToSend(), [false, false])
    assert.match(await text(), /^Being sent again since [\d:]{5}: 1 of 3 so far, 1 was accepted\.$/)
    assert.equal((await browser.post('deliveries/resend')).done, 'resending-already')
    service().clock.advance(10_000)
    assert.deepEqual(await offersToSend(), [true, true])
    assert.match(await text(), /has stopped after 1 of 3, because the service stopped/)
    const before = requests.length
    assert.equal((await browser.post('deliveries/resend')).done, 'resending')
    assert.match(await resent(browser), /1 of 1/)
    assert.equal(requests.length, before + 1)
  })
})

test('a page of deliveries, and the messages of a payment, are read from as much of an index as they show', async t => {
  const { database, forget, assertPlans } = await watchedService(t)
  const webhooks = [{ webhook_id: 'a' }, { webhook_id: 'b' }]
  const part = { limit: 51, order: 'newest' } as const
  forget()
  for (const status of [undefined, 'FAILED', 'PENDING', 'SUCCESSFUL', 'not listening'] as const)
    await listDeliveries(database, webhooks, { status, before: 'c' }, part)
  await assertPlans(/webhook_messages/, /\(webhook_id=\? AND message_id<\?\)|\(message_id=\?\)/, 15)
  forget()
  await messagesOfPayment(database, 'a')
  await assertPlans(/./, /^SEARCH /, 1)
})

// No send times out here.
const held = holdSends()

onEveryDatabase('A run that sends again', { send: held.send }, service => {
  test('one that another has taken over sends nothing more', async () => {
    const { api, browser } = await enter(service())
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    const refuse = async () => (await held.next())[0]?.end(500)
    for (let i = 0; i < 3; i++) {
      const { payment_id } = await api.createPayment()
      const cancelling = api.post(`/v1/payments/${payment_id}/cancel`)
      await refuse()
      await refuse()
      await cancelling
    }
    const before = held.calls.length
    assert.equal((await browser.post('deliveries/resend')).done, 'resending')
    const [first] = await held.next()
    // The instance was held up for so long that its claim has run out.
    service().clock.advance(10_000)
    assert.equal((await browser.post('deliveries/resend')).done, 'resending')
    const [second] = await held.next()
    assert.ok(first && second)
    let isOver = false
    const over = Promise.all(service().apps.map(({ deliveries }) => deliveries.settled()))
    void over.then(() => (isOver = true))
    for (; !isOver; await setImmediate()) held.endAll(500)
    assert.equal(held.calls.length, before + 1 + 3)
    await held.next(2)
  })

  test('one that outlasts its claim leaves that of another alone', async () => {
    const context = service() as Pick<Service, 'database' | 'time'> as ToolContext // all that it reads
    const alone = <Result>(work: () => Promise<Result>) =>
      sendingAlone(context, newAccount('a'), 1_000, work)
    const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = alone(() => {
      began.resolve()
      return mayEnd.promise
    })
    await began.promise
    service().clock.advance(10_000)
    const found = await alone(async () => {
      mayEnd.resolve()
      await first
      return { third: await alone(async () => 'begun') }
    })
    assert.deepEqual(found, { third: undefined })
  })
})
