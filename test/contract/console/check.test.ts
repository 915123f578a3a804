import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createNewId } from '../../../src/core/ids.ts'
import { findExchanges, insertExchange } from '../../../src/tools/record/store.ts'
import { tagged } from '../../hosted/document.ts'
import { webPayment } from '../../support/client.ts'
import { enter, signIn } from '../../support/console.ts'
import { authorise, cancelledPayment } from '../../support/journeys.ts'
import { onSharedDatabases, startService } from '../../support/service.ts'
import { answering, subscribe } from '../../support/subscriber.ts'

const navigationOf = (html: string) => /\bCheck(?: \([^)]+\))?(?=\s*<)/.exec(html)?.[0]

onSharedDatabases('The check in the console', { receives: true }, service => {
  test('the page has each finding with its evidence, and the navigation the number of fails, and a refund made in the console is none of the application', async () => {
    const { api, browser: console } = await enter(service())
    const text = async () => (await console.get('check')).text
    assert.doesNotMatch(await text(), /Nothing that was seen would break/)
    assert.equal(navigationOf((await console.get('check')).html), 'Check')

    const made = await console.post('payments/new/create', { ready: 'paid' })
    await console.post(`${made.location}/refund`, { amount: '1' })
    assert.match(await text(), / 0 exchanges since .* Nothing was judged, so/)
    await api.get('/v1/payments')
    const one = / 1 exchange since .*\. Nothing that was seen would break\..*Seen 1 time(?!s)/
    assert.match(await text(), one)

    const headers = { 'Idempotency-Key': 'k-1' }
    await api.createPayment({ amount: 0 }, headers)
    await api.post('/v1/payments', webPayment, headers)
    const page = await console.get('check')
    assert.match(page.text, /^(?!.*note C11)Check Would this .* 3 exchanges since 2026-/)
    assert.match(page.text, /Will break in production fail P4 .* Likely to break warn P1 /)
    assert.match(page.text, /What passed \(\d+\).* What was not seen \(\d+\)/)
    assert.equal(navigationOf(page.html), 'Check (1)')
    assert.match(
      page.html,
      /Source: <a class="govuk-link" href="https:\/\/github\.com\/alphagov\/pay-connector\/[^"]+">ChargesApiResource\.java#L174<\/a>/,
    )
    const [, address = ''] = /Base URL of the API: (\S+)/.exec((await console.get('')).text) ?? []
    assert.equal(page.text.split(` ${address}/control/`).length - 1, 25)
    assert.ok(!page.text.includes('FARTHING_URL'))
    assert.match(
      page.text,
      /A card is declinedNocurl .*scenario.*declined.*plans\s*then let your application create a payment/,
    )
    const [, evidence = ''] = /href="(requests\/[0-9a-v]{26})"/.exec(page.html) ?? []
    assert.match(
      (await console.get(evidence)).text,
      /In production: The second use.*\. By its source GOV\.UK Pay: Outside agreement mode the key is ignored/,
    )
    assert.equal(navigationOf((await console.get('payments')).html), 'Check (1)')
  })

  test('a timeline says at a step what would differ, and a filter finds such requests', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
    const authorised = await authorise(api, payment, { card_number: '4000000000000069' })
    assert.equal(authorised.status, 204)
    const console = await signIn(service(), api)
    const filtered = 'requests?show=in-production'
    for (const [path, says] of [
      [
        `payments/${payment.payment_id}`,
        /warn In production: Test cards that fail\. By its source GOV\.UK Pay: Those that end in 0069/,
      ],
      [filtered, /^(?!.*POST \/v1\/payments ).*Different in production.*POST \/v1\/auth204/],
      ['check', /P9 Test cards that fail/],
    ] as const)
      assert.match((await console.get(path)).text, says)
  })

  test('a finding about a webhook has the button that probes its receiver', async t => {
    const { api, browser } = await enter(service())
    const { webhook } = await subscribe(t, api, { behaviour: { onRequest: answering(401) } })
    for (let i = 0; i < 3; i++) await cancelledPayment(api)
    const { elements, text } = await browser.get('check')
    const action = `webhooks/${webhook.external_id}/probe`
    const form = elements.find(({ attributes }) => attributes.action === action)
    assert.equal(form?.inside.find(tagged('button'))?.text, 'Probe this receiver')
    assert.match(text, /Sends at most \d+ messages/)
  })
})

test('The number beside Check is that of the page, and with more than 1,000 exchanges elsewhere an older one with its time', async t => {
  const service = await startService('sqlite')
  t.after(() => service.stop())
  const { database, clock, apps } = service
  const { api, name, browser } = await enter(service)
  const shown = async (path: string) => navigationOf((await browser.get(path)).html)
  await api.get('/v1/agreements')
  await apps[0]?.recorder?.flush()
  const [sample] = await findExchanges(database, name, {}, { limit: 1, order: 'newest' })
  assert.ok(sample)
  const { exchange_id: _, ...exchange } = sample
  const newId = createNewId()
  const insert = insertExchange(exchange)
  // A millisecond earlier than the service, which may record within the same millisecond of this clock.
  await database.write(Array.from({ length: 1_000 }, () => insert(newId(clock.now() - 1))))
  const at = new Date(clock.now()).toISOString().slice(11, 19)
  assert.equal(await shown('payments'), 'Check')

  await api.createPayment({}, { 'Idempotency-Key': 'k-1' })
  await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
  clock.advance(9_999)
  assert.equal(await shown('payments'), `Check (0 at ${at})`)
  const home = await browser.get('')
  assert.equal(navigationOf(home.html), `Check (0 at ${at})`)
  assert.equal(await shown('check'), 'Check (1)')
  assert.equal(await shown('payments'), 'Check (1)', 'the page counted')
  assert.match((await browser.get('')).text, /1 thing would break in production/)
  const counted = new Date(clock.now()).toISOString().slice(11, 19)
  await api.get('/v1/agreements')
  clock.advance(10_000)
  const old = await browser.get('')
  assert.equal(navigationOf(old.html), `Check (1 at ${counted})`)
  assert.match(old.text, new RegExp(`1 thing would break in production, counted at ${counted}`))
  while ((await shown('payments')) !== 'Check (1)') await setTimeout(20)
})
