import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createNewId } from '../../../src/core/ids.ts'
import { findExchanges, insertExchange } from '../../../src/tools/record/store.ts'
import { tagged } from '../../hosted/document.ts'
import { webPayment } from '../../support/client.ts'
import { signIn } from '../../support/console.ts'
import { authorise } from '../../support/journeys.ts'
import { onSharedDatabases, startService } from '../../support/service.ts'

const navigationOf = (html: string) => /\bCheck(?: \(\d+\))?(?=\s*<)/.exec(html)?.[0]

onSharedDatabases('The check in the console', service => {
  test('the page has each finding with its evidence, and the navigation the number of fails', async () => {
    const api = await service().newAccount()
    const console = await signIn(service(), api)
    const empty = await console.get('check')
    assert.match(empty.text, /Nothing is kept of the last 24 hours/)
    assert.doesNotMatch(empty.text, /Nothing that was seen would break/)
    assert.equal(navigationOf(empty.html), 'Check')

    const headers = { 'Idempotency-Key': 'k-1' }
    await api.createPayment({ amount: 0 }, headers)
    await api.post('/v1/payments', webPayment, headers)
    const page = await console.get('check')
    assert.match(page.text, /^Check Would this .* 2 exchanges since 2026-/)
    assert.match(page.text, /Will break in production fail P4 .* Likely to break warn P1 /)
    assert.match(page.text, /What passed \(\d+\).* What was not seen \(\d+\)/)
    assert.equal(navigationOf(page.html), 'Check (1)')
    const evidence = page.elements.filter(tagged('a')).flatMap(({ attributes: { href = '' } }) => {
      return /^requests\/[0-9a-v]{26}$/.test(href) ? [href] : []
    })
    assert.match(
      page.html,
      /Source: <a class="govuk-link" href="https:\/\/github\.com\/alphagov\/pay-connector\/[^"]+">ChargesApiResource\.java#L174<\/a>/,
    )
    assert.match(page.text, /A card is declinedNot metcurl .*scenario.*declined/)
    const [newest = ''] = evidence
    assert.match(
      (await console.get(newest)).text,
      /In production: By its source GOV\.UK Pay ignores Idempotency-Key here/,
    )
    assert.equal(navigationOf((await console.get('payments')).html), 'Check (1)')
  })

  test('a timeline says at a step what would differ, a filter finds such requests, and no page has a card number', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
    const card_number = '4000000000000069'
    assert.equal((await authorise(api, payment, { card_number })).status, 204)
    const console = await signIn(service(), api)
    const pages = [
      await console.get(`payments/${payment.payment_id}`),
      await console.get('requests?show=in-production'),
      await console.get('check'),
    ]
    const [timeline, requests, check] = pages
    assert.match(timeline?.text ?? '', /warn In production: By its source this test card/)
    assert.match(
      requests?.text ?? '',
      /Requests that would differ in production.*POST \/v1\/auth204/,
    )
    assert.doesNotMatch(requests?.text ?? '', /POST \/v1\/payments /)
    assert.match(check?.text ?? '', /P9 Test cards that fail/)
    for (const { html } of pages) assert.ok(!html.includes(card_number))
  })
})

test('With more than 1,000 exchanges no page waits for the number of fails, which is counted anew after 10 seconds', async t => {
  const service = await startService('sqlite')
  t.after(() => service.stop())
  const { database, clock, apps } = service
  const { api, name } = await service.newNamedAccount()
  const browser = await signIn(service, api)
  const shown = async () => navigationOf((await browser.get('payments')).html)
  await api.get('/v1/agreements')
  await apps[0]?.recorder?.flush()
  const [sample] = await findExchanges(database, name, {}, { limit: 1, order: 'newest' })
  assert.ok(sample)
  const { exchange_id: _, ...exchange } = sample
  const newId = createNewId()
  const insert = insertExchange(exchange)
  await database.write(Array.from({ length: 1_000 }, () => insert(newId(clock.now()))))
  assert.equal(await shown(), 'Check')

  await api.createPayment({}, { 'Idempotency-Key': 'k-1' })
  await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
  clock.advance(9_999)
  assert.equal(await shown(), 'Check')
  clock.advance(1)
  assert.equal(await shown(), 'Check')
  while ((await shown()) !== 'Check (1)') await setTimeout(20)
})
