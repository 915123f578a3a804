import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNewId } from '../../../src/core/ids.ts'
import { makeGapRow } from '../../../src/tools/record/row.ts'
import { insertExchange } from '../../../src/tools/record/store.ts'
import { readTraffic } from '../../../src/tools/record/traffic-store.ts'
import { classed, tagged } from '../../hosted/document.ts'
import {
  byId,
  enter,
  headingOf,
  linkIn,
  rowsOf,
  type Shown,
  signIn,
  textOf,
} from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, receiving, subscribe } from '../../support/subscriber.ts'
import { watchedService } from '../../support/watched.ts'

const behaviour = { onRequest: answering(401) }

const attentionIn = ({ elements }: Shown): string[] =>
  elements
    .filter(classed('farthing-attention'))
    .flatMap(({ inside }) => inside.filter(tagged('p')).map(textOf))

onEveryDatabase('The home page of the console', { ...receiving, control: true }, service => {
  test('an account that has nothing is shown three steps, and the same frame with nothing in it', async () => {
    const { browser } = await enter(service())
    const page = await browser.get('')
    assert.deepEqual([page.status, headingOf(page)], [200, 'Home'])
    const [steps] = page.elements.filter(tagged('ol'))
    assert.deepEqual(
      steps?.inside.filter(tagged('li')).map(each => textOf(each).split(/[,.]| Choose/)[0]),
      ['Make a payment', 'Register a webhook', 'Send requests from your own service'],
    )
    assert.match(page.text, /0 requests to \/v1, 0 of them refused\. Requests a minute/)
    assert.match(page.text, /Needs attention Nothing\. Payments now/)
    assert.equal(linkIn(page, 'Make a payment'), 'payments/new')
    assert.equal(linkIn(page, 'API documentation'), '../docs')
    assert.equal((await browser.get('?x')).status, 200, 'with a slash at its end')
  })

  test('requests are bars and rows by the minute; only those to /v1 count, and what was only counted is said', async () => {
    const { api, name, browser } = await enter(service())
    const start = Math.floor(service().clock.now() / 60_000 + 1) * 60_000
    service().clock.advance(start - service().clock.now() + 1_000)
    for (let i = 0; i < 3; i++) await api.get('/v1/payments')
    await api.get('/v1/payments/unknown')
    const { _links } = await api.createPayment()
    await api.get(new URL(_links.next_url.href).pathname)
    // A payment made in the console is no request.
    await browser.post('payments/new/create', { ready: 'paid' })
    service().clock.advance(120_000)
    await api.get('/v1/refunds')
    const at = service().clock.now()
    const gap = { count: 1_234, refused: 4, from: at, to: at, bounds: ['account' as const] }
    await service().database.write([insertExchange(makeGapRow(name, gap))(createNewId()(at))])
    const page = await browser.get('')
    assert.match(page.text, /6 requests to \/v1, 1 of them refused/)
    assert.match(page.text, /1,234 more requests, page steps and attempts were only counted/)
    assert.match(page.text, /Minute \(UTC\) ?Requests ?Refused ?Only counted/)
    const rows = rowsOf(page)
    const minute = (ms: number) => new Date(ms).toISOString().slice(11, 16)
    assert.deepEqual(rows.slice(0, 3), [
      [minute(start + 120_000), '1', '0', '1,234'],
      [minute(start + 60_000), '0', '0', '0'],
      [minute(start), '5', '1', '0'],
    ])
    assert.equal(rows.length, 15)
    const title = byId(page, 'bars-title')
    assert.match(textOf(title), /^Requests a minute from \d\d:\d\d to \d\d:\d\d UTC: 6 requests/)
    service().clock.advance(15 * 60_000)
    assert.match((await browser.get('')).text, /0 requests to \/v1/)
  })

  test('older requests that the record has dropped are not shown as if there had been none', async () => {
    const { api, name, browser } = await enter(service())
    for (let i = 0; i < 4; i++) {
      await api.get('/v1/payments')
      await browser.get('')
      service().clock.advance(60_000)
    }
    const options = { wall: service().clock.now(), most: 2 }
    const { minutes, keptSince } = await readTraffic(service().database, name, options)
    const kept = minutes.flatMap(({ requests }) => requests || [])
    assert.deepEqual(kept, [1, 1])
    assert.ok(keptSince !== undefined && keptSince < options.wall)
  })

  test('at most five lines say what needs attention, each with a button that leads to it', async t => {
    const { api, browser } = await enter(service())
    const { webhook } = await subscribe(t, api, { description: 'Ledger feed', behaviour })
    for (let i = 0; i < 2; i++) await cancelledPayment(api)
    const bad = { amount: 1, reference: 'r', description: 'd', return_url: 'no host' }
    for (let i = 0; i < 3; i++) await api.post('/v1/payments', bad)
    await api.post('/v1/payments', { ...bad, amount: -1, return_url: 'https://x.example/' })
    const page = await browser.get('')
    const lines = attentionIn(page)
    for (const line of [
      /^2 messages to Ledger feed failed, the newest at \d\d:\d\d:\d\d: 401 Unauthorized\n/,
      /^POST \/v1\/payments refused, at \S+: amount must be at least 0 \(you sent -1\)$/m,
      /^3 × Create a payment refused, the newest, at \S+: return_url .*\(you sent "no host"\)$/m,
    ])
      assert.match(lines.join('\n'), line)
    const ask = page.elements.find(({ attributes: { action = '' } }) => /\w{26}\/ask$/.test(action))
    assert.match(ask?.inside.find(tagged('button'))?.text ?? '', /^Ask the receiver \(at most 45/)
    assert.equal(linkIn(page, 'Ledger feed'), `webhooks/${webhook.external_id}?delivery=FAILED`)
    assert.match(linkIn(page, 'Show the request'), /^requests\/\w{26}$/)
    const all = await browser.get(linkIn(page, 'Show all like it'))
    assert.match(all.text, /Refused \(4xx and 5xx\), Create a payment, P0102, about return_url/)
    assert.equal(lines.length, 3)
    for (const path of ['agreements', 'payments', 'webhooks']) await api.get(`/v1/${path}/x`)
    for (const path of ['payments/x/events', 'payments/x/refunds', 'webhooks/x/messages'])
      await api.get(`/v1/${path}`)
    const more = await browser.get('')
    assert.equal(attentionIn(more).length, 5)
    assert.match(more.text, /And 4 more: all refused requests, all failed messages\./)
    service().clock.advance(15 * 60_000)
    assert.deepEqual(attentionIn(await browser.get('')), lines.slice(0, 1))
  })

  test('messages count from the first attempt that failed until a day after the last, and the receiver can be asked about each', async t => {
    const { api, browser } = await enter(service(), 'govuk-pay')
    await subscribe(t, api, { description: 'Feed', behaviour, at: '/control/webhooks' })
    const { webhook_id } = (await ask(service(), api, 'listeners', { name: 'Nobody' })).body
    await ask(service(), api, `listeners/${webhook_id}`, undefined, 'DELETE')
    for (let i = 0; i < 2; i++) await cancelledPayment(api)
    for (const { deliveries } of service().apps) await deliveries.settled()
    for (const [i, hours] of [0, 72, 2, 22].entries()) {
      await api.advance(hours * 3_600_000)
      const home = await browser.get('')
      const told = `^2 messages to Feed failed${i < 2 ? ' so far' : ''}, the newest at .*: 401 .*$`
      assert.match(attentionIn(home).join('\n'), new RegExp(told), `${hours}`)
      const page = await browser.get(linkIn(home, 'Feed'))
      byId(await browser.get(linkIn(page, 'card_payment_failed')), 'ask-receiver')
    }
    await api.advance(7_200_000)
    assert.deepEqual(attentionIn(await browser.get('')), [])
  })

  test('requests without a known key belong to no account, so each account is told how many came', async () => {
    const { browser } = await enter(service())
    service().clock.advance(15 * 60_000)
    for (const path of ['', 'requests'])
      assert.ok(!(await browser.get(path)).html.includes('id="refused-keys"'))
    // Each instance counts its own requests.
    for (const url of service().baseUrls) {
      await fetch(`${url}/v1/payments`)
      service().clock.advance(60_000)
      await fetch(`${url}/v1/payments/x`, { headers: { Authorization: 'Bearer api_test_other' } })
    }
    const told = 'In the last 15 minutes 2 requests had no key or one that is not known here.'
    for (const path of ['', '', 'requests', 'requests?show=refused'])
      assert.equal(textOf(byId(await browser.get(path), 'refused-keys')), told)
    service().clock.advance(14 * 60_000)
    const [one, other] = [await browser.get(''), await browser.get('')]
    assert.match([one, other].map(({ text }) => text).join(), /15 minutes 1 request had no key/)
    service().clock.advance(60_000)
    assert.ok(!(await browser.get('')).html.includes('id="refused-keys"'))
  })

  test('payments are counted by state, and each count leads to them', async () => {
    const { api, browser } = await enter(service())
    await api.createPayment()
    for (const _ of [1, 2]) await browser.post('payments/new/create', { ready: 'paid' })
    const page = await browser.get('')
    for (const [count, status] of ['2 success', '1 created', '0 error'].map(each =>
      each.split(' '),
    ))
      assert.equal(linkIn(page, `${count} ${status}`), `payments?status=${status}`)
    byId(page, 'make-payment')
  })
})

test('the home page, the list of payments and that of deliveries read by indexes only', async t => {
  const { service, api, forget, assertPlans } = await watchedService(t)
  await api.post('/v1/webhooks', { callback_url: 'https://ledger.example.org/' })
  const browser = await signIn(service, api)
  for (const path of ['', 'deliveries']) {
    forget()
    assert.equal((await browser.get(path)).status, 200)
    // An index says whether a message was accepted by hand since, so that not all attempts of its payment are read.
    const byHand = /USING (COVERING )?INDEX exchanges_accepted_by_hand \(payment_id=\?/
    await assertPlans(/exchanges .*\(payment_id=/, byHand, 1)
  }
  forget()
  await browser.look('', await browser.get(''))
  for (const query of ['', 'x', 'x&status=failed', 'a@b', '1.00', 'metadata.a=b', '&from=00:00'])
    assert.equal((await browser.get(`payments?q=${query}`)).status, 200)
  const tables = /\b(payments|exchanges|webhook_messages)\b/
  await assertPlans(tables, /^SEARCH .* USING (COVERING )?INDEX/, 16)
})
