import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classed, only, tagged } from '../../hosted/document.ts'
import type { Body, Client } from '../../support/client.ts'
import { byId, enter, type Shown, stepsOf } from '../../support/console.ts'
import { type Behaviour, startReceiver } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, received, receiving, subscribe } from '../../support/subscriber.ts'

const CHANGES = 'succeeded captured refunded failed cancelled'.split(' ')
const ALL = CHANGES.map(change => `card_payment_${change}`)

onEveryDatabase('Webhooks made, tested and deactivated in the console', receiving, service => {
  const form = (fields: object, events: readonly string[] = ALL) =>
    Object.entries(fields).concat(events.map(event => ['subscriptions', event]))
  const listed = async ({ get }: Client): Promise<Body[]> =>
    (await get('/v1/webhooks')).body.results

  test('a webhook is registered as the API does it, is marked as made here, and one that is sent twice is made once', async t => {
    const { api, browser } = await enter(service())
    const receiver = await startReceiver()
    t.after(() => receiver.close())
    const wanted = { description: 'Ledger', subscriptions: ALL.slice(3) }
    const given = form({ callback_url: ` ${receiver.url} `, description: 'Ledger' }, ALL.slice(3))
    const register = () => browser.post('webhooks/new/register', given)
    const [made, twice] = await Promise.all([register(), register()])
    assert.deepEqual([made.status, made.done], [303, 'registered'])
    assert.equal(twice.location, made.location)
    const [webhook, ...others] = await listed(api)
    assert.deepEqual(others, [])
    const { external_id, created_date, ...rest } = webhook
    assert.deepEqual(rest, { callback_url: receiver.url, ...wanted, status: 'ACTIVE' })
    const page = await browser.get(`webhooks/${external_id}`)
    assert.match(page.text, /The webhook is registered\. .* From this console/)
    service().clock.advance(60_001)
    assert.notEqual((await register()).location, made.location)
    assert.equal((await listed(api)).length, 2)
  })

  test('all events are ticked, and after an error those that were', async () => {
    const { api, browser } = await enter(service())
    const ticked = ({ elements }: Shown) =>
      elements.flatMap(({ attributes }) => ('checked' in attributes ? attributes.value : []))
    assert.deepEqual(ticked(await browser.get('webhooks/new')), ALL)
    for (const [callback_url, events, field] of [
      ['http://10.0.0.1/', ALL.slice(1), 'callback_url'],
      ['https://localhost/', [], 'subscriptions'],
    ] as const) {
      const page = await browser.post('webhooks/new/register', form({ callback_url }, events))
      byId(page, `${field}-error`)
      assert.equal(byId(page, 'callback_url').attributes.value, callback_url)
      assert.deepEqual(ticked(page), events)
    }
    assert.deepEqual(await listed(api), [])
  })

  test('a test message of each event is a real delivery to one webhook, about a payment that is made for it and marked', async t => {
    const { api, browser } = await enter(service())
    const ours = await subscribe(t, api)
    const other = await subscribe(t, api)
    const path = `webhooks/${ours.webhook.external_id}`
    const { inside } = byId(await browser.get(path), 'event_type')
    assert.equal(inside.map(({ text }) => text).join(), ALL.join())
    const ended: Record<string, string> = {
      card_payment_failed: 'failed',
      card_payment_cancelled: 'cancelled',
    }
    for (const event_type of ALL) {
      service().clock.advance(5)
      const sent = await browser.post(`${path}/test`, { event_type })
      const page = await browser.get(sent.location ?? '')
      assert.match(page.text, /Delivered: the receiver answered 200 OK\./)
      const message = received(ours).at(-1) ?? {}
      assert.equal(message.event_type, event_type)
      const { payment_id, state, refund_summary } = message.resource
      assert.equal(state.status, ended[event_type] ?? 'success')
      const isRefunded = event_type === 'card_payment_refunded'
      assert.equal(refund_summary.status === 'full', isRefunded)
      const { body } = await api.get(`/v1/payments/${payment_id}`)
      assert.deepEqual(body, message.resource)
      const refunds = (await api.get(`/v1/payments/${payment_id}/refunds`)).body._embedded.refunds
      assert.equal(refunds.length, isRefunded ? 1 : 0)
      const payment = await browser.get(`payments/${payment_id}`)
      assert.match(payment.text, /made for a test message to one webhook/)
      assert.doesNotMatch(payment.text, /no message to|not recorded/)
      const [made] = stepsOf(payment).filter(step => step.includes('In the console'))
      assert.match(made ?? '', /delivered 1 attempt/)
    }
    assert.equal(ours.requests.length, ALL.length)
    assert.equal(other.requests.length, 0)
    const wrong = await browser.post(`${path}/test`, { event_type: 'card_payment_settled' })
    assert.deepEqual([wrong.location, wrong.done], [path, 'not-sent'])
  })

  test('a webhook is deactivated, twice as well as once, and nothing can be sent to it any more', async t => {
    const { api, browser } = await enter(service())
    const { webhook, requests } = await subscribe(t, api)
    const path = `webhooks/${webhook.external_id}`
    byId(await browser.get(path), 'deactivate')
    for (const _ of [1, 2])
      assert.equal((await browser.post(`${path}/deactivate`)).done, 'deactivated')
    const page = await browser.get(path)
    assert.match(page.text, /Status INACTIVE/)
    assert.ok(!page.html.includes('id="deactivate"') && !page.html.includes('id="send-test"'))
    const test = await browser.post(`${path}/test`, { event_type: ALL[0] ?? '' })
    assert.deepEqual([test.location, test.done], [path, 'not-sent'])
    assert.equal(requests.length, 0)
    assert.deepEqual((await api.get('/v1/payments')).body.results, [], 'no payment is left over')
  })

  test('the last deliveries are a row of marks with their number, rate and slowest response', async t => {
    const { api, browser } = await enter(service())
    let status = 500
    const behaviour: Behaviour = { onRequest: answer => answering(status)(answer) }
    const { webhook } = await subscribe(t, api, { behaviour })
    const path = `webhooks/${webhook.external_id}`
    assert.ok(!(await browser.get(path)).html.includes('farthing-marks'))
    const send = async () => {
      service().clock.advance(5)
      return (await browser.post(`${path}/test`, { event_type: ALL[0] ?? '' })).location ?? ''
    }
    const failed = [await send(), await send()]
    status = 204
    for (const _ of [1, 2]) await send()
    await browser.post(`${failed[1]}/send`)
    const page: Shown = await browser.get(path)
    const { inside, text } = only(page.elements, classed('farthing-marks'))
    const marks = inside.filter(tagged('li')).map(({ text }) => text.slice(0, 1))
    assert.deepEqual(marks, ['✗', '↻', '✓', '✓'])
    assert.match(text, /card_payment_succeeded, FAILED, 2026-.*: 500 .*sent again and accepted/s)
    const links = inside.flatMap(({ attributes }) => attributes.href ?? [])
    assert.equal(links.join(), failed.map(id => `../${id}`).join())
    const recent = /2 of 4 delivered \(50 %\)\. The slowest response took [\d,]+ ms\./
    assert.match(byId(page, 'recent').text, recent)
  })
})
