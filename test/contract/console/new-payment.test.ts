import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classed, tagged } from '../../hosted/document.ts'
import { byId, consoleOf, enter, headingOf, stepsOf } from '../../support/console.ts'
import { read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Making a payment in the console', service => {
  test('a form makes the payment that the API would make, and its user returns to a page of the console', async () => {
    const { api, browser } = await enter(service())
    const page = await browser.get('payments/new')
    assert.equal(headingOf(page), 'Make a payment')
    const person = { cardholder_name: 'È. Person', city: 'Bangor' }
    const choices = { mode: 'moto', language: 'cy', delayed_capture: 'true', return_url: '' }
    const main = { amount: '£1,234.5', reference: 'R-form', description: 'By hand' }
    const fields = { ...main, ...choices, ...person }
    const made = await browser.post('payments/new/create', fields)
    assert.deepEqual([made.status, made.done], [303, 'created'], made.text)
    const payment_id = made.location?.replace('payments/', '') ?? ''
    const shown = await browser.get(made.location ?? '')
    assert.match(stepsOf(shown)[0] ?? '', /In the console: the payment was made ?created/)
    const body = await read(api, { payment_id })
    const { amount, reference, language, moto, delayed_capture } = body
    assert.deepEqual([amount, reference, language], [123_450, 'R-form', 'cy'])
    assert.deepEqual([moto, delayed_capture], [true, true])
    assert.equal(body.card_details.cardholder_name, 'È. Person')
    assert.equal(new URL(body.return_url).pathname, `/console/back/${payment_id}`)
    const back = await browser.get(`back/${payment_id}`)
    assert.equal(headingOf(back), 'You are back')
    assert.match(back.text, /The payment is still open: created/)
    assert.ok(back.html.includes(`href="../payments/${payment_id}"`))
    const { browser: other } = await enter(service())
    for (const stranger of [other, consoleOf(service())])
      for (const id of [payment_id, '06g9u000000000000000000000']) {
        const { status, text, html } = await stranger.get(`back/${id}`)
        assert.equal(status, 200)
        assert.match(text, /^You are back The service that made the payment knows its result\./)
        assert.ok(!html.includes('R-form'))
      }
  })

  test('each ready-made payment is in its state at once', async () => {
    const { api, browser } = await enter(service())
    for (const [ready, done, status] of [
      ['paid', 'succeeded', 'success'],
      ['declined', 'declined', 'failed'],
      ['error', 'error', 'error'],
      ['cancelled', 'cancelled', 'failed'],
      ['capturable', 'authorised', 'capturable'],
      ['refunded', 'refunded', 'success'],
    ] as const) {
      const made = await browser.post('payments/new/create', { ready })
      assert.equal(made.done, done)
      const [step = '', ...more] = stepsOf(await browser.get(made.location ?? ''))
      assert.deepEqual(more, [])
      assert.match(step, /In the console: the payment was made and brought into its state/)
      const { body } = await api.get(`/v1/${made.location}`)
      assert.equal(body.state.status, status)
      assert.equal(body.refund_summary.status === 'full', ready === 'refunded')
    }
  })

  test('all refusals of the API stand at their fields, with what was typed, and nothing is made', async () => {
    const { api, browser } = await enter(service())
    const right = { amount: '1', reference: 'R', description: 'D', return_url: '', mode: 'web' }
    const moto_api = { mode: 'moto_api' }
    const pence = /^Enter an amount in pounds, from 0\.00 to 100000\.00$/
    const noUrl = /^Return URL is not allowed when .*moto_api$/
    for (const [field, typed, message, more] of [
      ['amount', '100000.01', pence],
      ['return_url', 'https://example.org/', noUrl, moto_api],
      ['cardholder_name', 'a\u0000', /must /],
    ] as const) {
      const fields = { ...right, ...more, [field]: typed }
      const page = await browser.post('payments/new/create', fields)
      assert.equal(page.status, 400, page.text)
      assert.match(byId(page, `${field}-error`).text.replace('Error: ', ''), message)
      if (field !== 'cardholder_name') assert.equal(byId(page, field).attributes.value, typed)
    }
    const typed = { amount: '-', reference: '', description: '', return_url: 'no' }
    const all = { ...typed, postcode: 'x'.repeat(26) }
    const page = await browser.post('payments/new/create', { ...right, ...all })
    for (const field of Object.keys(all)) byId(page, `${field}-error`)
    const summary = page.elements.find(classed('govuk-error-summary__list'))
    assert.deepEqual(
      summary?.inside.filter(tagged('a')).map(({ attributes }) => attributes.href),
      Object.keys(all).map(field => `#${field}`),
    )
    assert.equal((await api.get('/v1/payments')).body.total, 0)
    const moto = await browser.post('payments/new/create', { ...right, ...moto_api })
    assert.equal(moto.done, 'created-without-page')
  })
})
