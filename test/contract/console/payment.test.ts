import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { RECORD_READERS } from '../../../src/core/budgets.ts'
import { HOUR } from '../../../src/core/time.ts'
import { actions } from '../../../src/tools/record/action.ts'
import { tagged } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { byId, type Console, enter, headingOf, stepsOf } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { pageOf } from '../../support/hosted-page.ts'
import { paidPayment, read } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history, receiving, subscribe } from '../../support/subscriber.ts'
import { mockQueries } from '../../support/watched.ts'

const options = { ...receiving, control: true }

onEveryDatabase('The page of a payment in the console', options, service => {
  const shown = (browser: Console, { payment_id }: Body) => browser.get(`payments/${payment_id}`)

  test('shows what happened in order, with what caused what, and which webhooks got no message and why', async t => {
    const { api, browser } = await enter(service())
    const text = '{"error":"bad signature"}\u202e'
    const behaviour: Behaviour = { onRequest: ({ response }) => response.writeHead(401).end(text) }
    const refusing = await subscribe(t, api, { behaviour })
    const archive = await subscribe(t, api, { subscriptions: ['card_payment_captured'] })
    const old = await subscribe(t, api)
    await api.delete(`/v1/webhooks/${old.webhook.external_id}`)
    const payment = await api.createPayment()
    service().clock.advance(5_000)
    await api.get(pageOf(payment))
    service().clock.advance(5_000)
    await api.postForm(pageOf(payment), { scenario: 'declined' })
    for (let i = 0; i < 3; i++) {
      service().clock.advance(1_000)
      await api.get(`/v1/payments/${payment.payment_id}`)
    }
    service().clock.advance(1_000)
    await subscribe(t, api)
    const page = await shown(browser, payment)
    assert.equal(headingOf(page), 'Payment of £46.50 failed')
    const [created, opened, chose, reads, ...more] = stepsOf(page)
    assert.deepEqual(more, [])
    assert.match(
      created ?? '',
      /^[\d:]{8} POST \/v1\/payments → 201 {1,2}[\d,]+ ms · key \S+ created$/,
    )
    assert.match(opened ?? '', / GET \/secure\/\S+… → 200 .* started$/)
    const told =
      / POST \/secure\/\S+… scenario=declined → 200 .*failed, P0010 \(the card was declined\).*card_payment_failed → \S+: failed 2 attempts.*401 Unauthorized at [\d:]{8} in \d+ ms, at [\d:]{8} in \d+ ms ?The receiver answered 401 Unauthorized: \{"error":"bad signature"\}U\+202E\. Most often the signature does not match there(?=.*no message to \S+: registered later)(?=.*no message to \S+: deactivated).*no message to \S+: not subscribed to card_payment_failed/s
    assert.match(chose ?? '', told)
    assert.match(reads ?? '', / GET \/v1\/payments\/\S+… → 200 .*and 2 more like it/)
    const hrefs = page.elements.map(({ attributes }) => attributes.href ?? '')
    const [{ external_id } = {}] = await history(api, refusing.webhook)
    const { external_id: other } = archive.webhook
    const ofMessage = [`../messages/${external_id}`, `../signature?message=${external_id}`]
    for (const href of [...ofMessage, `../webhooks/${other}`]) assert.ok(hrefs.includes(href), href)
    const exchanges = hrefs.filter(href => href.startsWith('../requests/'))
    assert.equal(exchanges.length, 6, 'four requests and two attempts')
    for (const href of exchanges) assert.equal((await browser.get(href.slice(3))).status, 200)
  })

  test('every ending of an open payment is one form, the timeline says that the console did it, and only one that went well has a green banner', async t => {
    const { api, browser } = await enter(service())
    await subscribe(t, api)
    for (const [scenario, done, status, states] of [
      ['success', 'succeeded', 'success', 'started → submitted → success'],
      ['declined', 'declined', 'failed', 'started → failed, P0010'],
      ['error', 'error', 'error', 'started → error, P0050'],
      ['cancel', 'cancelled', 'failed', 'started → failed, P0030'],
    ] as const) {
      const payment = await api.createPayment()
      service().clock.advance(8)
      const address = `payments/${payment.payment_id}`
      const acted = await browser.post(`${address}/complete`, { scenario })
      assert.deepEqual([acted.status, acted.location, acted.done], [303, address, done])
      const page = await browser.get(acted.location ?? '')
      assert.equal(headingOf(page), `Payment of £46.50 ${status}`)
      byId(page, 'govuk-notification-banner-title')
      assert.equal(page.html.includes('govuk-notification-banner--success'), scenario === 'success')
      const [, step = ''] = stepsOf(page)
      for (const part of [`the outcome was chosen, ${scenario}`, states, 'delivered 1 attempt'])
        assert.ok(step.includes(part), `${part}: ${step}`)
      assert.match(step, /In the console: (?!.*not recorded)/)
      const again = await browser.post(`${address}/complete`, { scenario })
      assert.deepEqual([again.location, again.done], [address, 'overtaken'])
    }
    const payment = await api.createPayment()
    for (const fields of [{}, { scenario: 'toString' }]) {
      const { status } = await browser.post(`payments/${payment.payment_id}/complete`, fields)
      assert.equal(status, 400)
    }
  })

  test('a webhook that was told of some changes only is in one line, with the reason, and a refund through the API is one step, with its request and its effects', async t => {
    const { api, browser } = await enter(service())
    await subscribe(t, api, { subscriptions: ['card_payment_captured'] })
    const { payment_id } = await paidPayment(api)
    const path = `payments/${payment_id}`
    const { text } = await browser.get(path)
    const told = /1 attempt, 200 OK; no other message: not subscribed to card_payment_succeeded/
    assert.match(text, told)
    await subscribe(t, api)
    service().clock.advance(8)
    const amounts = { amount: 650, refund_amount_available: 4650 }
    await api.post(`/v1/${path}/refunds`, amounts)
    const [, , , , refund = '', ...more] = stepsOf(await browser.get(path))
    assert.deepEqual(more, [])
    assert.match(refund, / POST \S+…\/refunds → 202 ?[\d,]+ ms.* refund of £6\.50, /)
    assert.match(refund, /card_payment_refunded → \S+: delivered 1 attempt/)
  })

  test('a refund that is held or fails is called so, with the reason why no message is sent, and the page changes when it fails by time', async t => {
    const { api, browser } = await enter(service(), 'govuk-pay')
    const built = await ask(service(), api, 'payments', { scenario: 'success', capture: true })
    const address = `payments/${built.body.payment_id}`
    const refund = async (plan?: object) => {
      if (plan) await ask(service(), api, 'plans', plan)
      assert.equal((await api.post(`/v1/${address}/refunds`, { amount: 500 })).status, 202)
    }
    await refund()
    await api.advance(1_000)
    // It gets no message before the last refund, so that nothing else changes the page.
    await subscribe(t, api, { at: '/control/webhooks' })
    await refund({ refund: 'held' })
    const held = await browser.get(address)
    const said =
      /£10\.00 of £14\.50 refunded or submitted · .* refund of £5\.00, submitted .*refund of £5\.00, \w{26} submitted no message to \S+: sent only when the refund succeeds .*Refund £5\.00 submitted /
    assert.match(held.text, said)
    const acted = await browser.post(`${address}/complete`, { scenario: 'refund-error' })
    assert.equal(acted.done, 'refund-failed')
    await api.advance(5_000)
    const failed = await browser.get(address)
    assert.ok(!failed.html.includes('govuk-notification-banner--success'))
    assert.match(failed.text, /the outcome was chosen, refund error .*Refund £5\.00 error /)
    const { refunds } = JSON.parse((await browser.get(`${address}/report.json`)).html)
    assert.deepEqual([refunds.length, refunds[1].status], [2, 'error'])
    await refund({ on: 'refundPayment', scenario: 'error' })
    const page = await browser.get(address)
    assert.equal((await browser.look(address, page)).status, 304)
    await api.advance(5_000)
    assert.equal((await browser.look(address, page)).status, 200)
    const [{ created_date }] = (await api.get(`/v1/${address}/refunds`)).body._embedded.refunds
    const first = `£5.00 of £14.50 refunded${created_date.slice(0, 19).replace('T', ' ')}`
    assert.ok((await browser.get(address)).text.includes(first), first)
    await refund({ refund: 'held' })
    service().clock.advance(8)
    await browser.post(`${address}/complete`, { scenario: 'refund' })
    const [made = '', ended = ''] = stepsOf(await browser.get(address)).slice(-2)
    assert.match(made, /refund of £5\.00, \w{26} success$/)
    assert.match(ended, /the outcome was chosen, refund success card_payment_refunded → /)
  })

  test('the timeline knows actions by the operationIds of the endpoints', async () => {
    const ids = new Set<string>()
    for (const path of ['/openapi.json', '/control/openapi.json']) {
      const document = (await (await fetch(service().baseUrl + path)).json()) as Body
      for (const methods of Object.values<Record<string, Body>>(document.paths))
        for (const { operationId } of Object.values(methods)) ids.add(operationId)
    }
    for (const name of Object.keys(actions)) assert.ok(ids.has(name), name)
  })

  test('a payment is captured, cancelled and refunded, and a wrong amount is explained', async () => {
    const { api, browser } = await enter(service())
    const post = (payment: Body, action: string, fields = {}) =>
      browser.post(`payments/${payment.payment_id}/${action}`, fields)
    const act = async (...given: Parameters<typeof post>) => (await post(...given)).done
    const delayed = await api.createPayment({ delayed_capture: true })
    service().clock.advance(8)
    assert.equal(await act(delayed, 'complete', { scenario: 'success' }), 'authorised')
    assert.equal(await act(delayed, 'capture'), 'succeeded')
    assert.equal(await act(delayed, 'cancel'), 'overtaken')
    for (const amount of ['', '0', '46.51', '1.505']) {
      const refused = await post(delayed, 'refund', { amount })
      assert.equal(refused.status, 400, amount)
      const error = byId(refused, 'amount-error').text
      assert.equal(error, 'Error: Enter an amount in pounds from £0.01 to £46.50')
      assert.equal(byId(refused, 'amount').attributes.value, amount)
    }
    service().clock.advance(8)
    assert.equal(await act(delayed, 'refund', { amount: ' £6.50 ' }), 'refunded')
    const page = await shown(browser, delayed)
    assert.equal(byId(page, 'amount').attributes.value, '40.00')
    // The action of a person is not recorded by an instance.
    if (service().kind === 'sqlite') assert.doesNotMatch(page.text, /Several instances/)
    assert.match(stepsOf(page).at(-1) ?? '', /In the console: a refund was made refund of £6\.50/)
    await act(delayed, 'refund', { amount: '40' })
    assert.equal((await read(api, delayed)).refund_summary.status, 'full')
    assert.equal(await act(delayed, 'refund'), 'overtaken')
    for (const authorisation_mode of ['web', 'moto_api']) {
      const payment = await api.createPayment({ authorisation_mode })
      assert.equal(await act(payment, 'cancel'), 'cancelled-by-api')
      assert.equal((await read(api, payment)).state.code, 'P0040')
    }
    const card = await api.createPayment({ authorisation_mode: 'moto_api' })
    assert.equal(await act(card, 'complete', { scenario: 'cancel' }), 'overtaken')
    assert.equal(await act(card, 'complete', { scenario: 'declined' }), 'declined')
    assert.equal((await read(api, card)).state.code, 'P0010')
  })

  test('control is named as the one who acted, and what was not recorded stands alone', async () => {
    const { api, browser } = await enter(service())
    const payment = await api.createPayment()
    const path = `payments/${payment.payment_id}/complete`
    service().clock.advance(8)
    await ask(service(), api, path, { scenario: 'success' })
    const [, step = ''] = stepsOf(await shown(browser, payment))
    assert.match(step, /Through \/control: the outcome was chosen, success/)
    const built = await ask(service(), api, 'payments', { scenario: 'success', refund: 100 })
    const [only = '', ...more] = stepsOf(await shown(browser, built.body))
    assert.deepEqual(more, [])
    assert.match(only, /Through \/control: the payment was made and brought into its state/)
    assert.match(only, /created → started → submitted → success/)

    service().clock.advance(1_000)
    await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 200 })
    await flush(service())
    const sql = 'delete from exchanges where payment_id = $1'
    await service().database.write([{ sql, values: [payment.payment_id] }])
    const page = await shown(browser, payment)
    const [created, states, refunded, ...rest] = stepsOf(page)
    assert.deepEqual(rest, [])
    assert.match(created ?? '', /Request not recorded created$/)
    assert.match(states ?? '', /Request not recorded started → submitted → success$/)
    assert.match(refunded ?? '', /Refund: request not recorded refund of £2\.00/)
    assert.match(page.text, /the account has no webhook\. Register one/)
  })

  test('a step that time caused is named, also without a message', async () => {
    const { api, browser } = await enter(service(), 'govuk-pay')
    const charge = { authorisation_mode: 'agreement', agreement_id: await activeAgreement(api) }
    for (const [fields, ms, ended] of [
      [{ scenario: 'success' }, 5_000, /The capture, when it was due/],
      [{}, 2 * HOUR, /The expiry, when it was due failed, P0020 \(it expired\)/],
      [charge, 2_000, /The charge, when it was due submitted → success/],
    ] as const) {
      const { body } = await ask(service(), api, 'payments', fields)
      await api.advance(ms)
      const page = await shown(browser, body)
      assert.match(stepsOf(page).at(-1) ?? '', ended)
      assert.match(page.text, /Summary .*, when it was due/s)
    }
  })

  // test/faults/secrets.test.ts tests that no page shows a token or a key.
  test('the payment is there as a text, as JSON and, with its requests, as a file, its token masked; downloads take turns', async t => {
    const { api, browser } = await enter(service())
    const payment = await api.createPayment({ metadata: { note: 'x' } })
    service().clock.advance(8)
    await api.get(pageOf(payment))
    const page = await shown(browser, payment)
    const [text = '', json = '', ...more] = page.elements
      .filter(tagged('pre'))
      .map(each => each.text)
    assert.deepEqual(more, [])
    const resource = JSON.parse(json)
    assert.match(text, /^\s*.*: £46\.50, started\nPayment [0-9a-v]{26}\n/)
    assert.ok(text.trim().endsWith(`/console/payments/${payment.payment_id}`), text)
    let [working, most] = [0, 0]
    mockQueries(t, service().database, async (query, values) => {
      if (!values.includes(payment.payment_id)) return query()
      most = Math.max(most, ++working)
      await setTimeout(20)
      working -= 1
      return query()
    })
    const get = () => browser.get(`payments/${payment.payment_id}/report.json`)
    const [download = await get()] = await Promise.all(Array.from({ length: 20 }, get))
    assert.ok(most <= 5 * RECORD_READERS, `${most} queries at once`)
    const disposition = download.headers.get('content-disposition') ?? ''
    assert.match(disposition, /^attachment; filename="payment-/)
    const report = JSON.parse(download.html)
    assert.equal(resource._links.next_url.href, `${pageOf(payment).slice(0, -26)}…`)
    assert.deepEqual(report.payment, resource)
    const operations = report.exchanges.map(({ operation }: Body) => operation)
    assert.deepEqual(operations, ['createPayment', 'openPaymentPage'])
  })
})
