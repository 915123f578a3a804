import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleOf, elementWith, enter, headingOf, stepsOf } from '../../support/console.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Making a payment in the console', service => {
  test('a form makes the payment that the API would make, and its user returns to a page of the console', async () => {
    const { api, browser } = await enter(service())
    const page = await browser.get('payments/new')
    assert.equal(headingOf(page), 'Make a payment')
    const fields = {
      amount: '£1,234.5',
      reference: 'R-form',
      description: 'By hand',
      return_url: '',
      mode: 'moto',
      language: 'cy',
      delayed_capture: 'true',
      cardholder_name: 'È. Person',
      city: 'Bangor',
    }
    const made = await browser.post('payments/new/create', fields)
    assert.deepEqual([made.status, made.done], [303, 'created'], made.text)
    const payment_id = made.location?.replace('payments/', '') ?? ''
    const shown = await browser.get(made.location ?? '')
    assert.match(stepsOf(shown)[0] ?? '', /In the console: the payment was made ?created/)
    const { body } = await api.get(`/v1/payments/${payment_id}`)
    assert.equal(body.amount, 123_450)
    assert.deepEqual([body.reference, body.language], ['R-form', 'cy'])
    assert.deepEqual([body.moto, body.delayed_capture], [true, true])
    assert.equal(body.card_details.cardholder_name, 'È. Person')
    const { pathname } = new URL(body.return_url)
    assert.equal(pathname, `/console/back/${payment_id}`)
    const back = await browser.get(pathname.slice('/console/'.length))
    assert.equal(headingOf(back), 'You are back')
    assert.match(back.text, /The payment is still open: created/)
    assert.ok(back.html.includes(`href="../payments/${payment_id}"`))
    const { browser: other } = await enter(service())
    for (const stranger of [other, consoleOf(service())])
      for (const id of [payment_id, '06g9u000000000000000000000']) {
        const told = await stranger.get(`back/${id}`)
        assert.equal(told.status, 200)
        assert.match(
          told.text,
          /^You are back The service that made the payment knows its result\./,
        )
        assert.ok(!told.html.includes('R-form'))
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
      const steps = stepsOf(await browser.get(made.location ?? ''))
      assert.equal(steps.length, 1)
      assert.match(
        steps[0] ?? '',
        /In the console: the payment was made and brought into its state/,
      )
      const { body } = await api.get(`/v1/${made.location}`)
      assert.equal(body.state.status, status)
      assert.equal(body.refund_summary.status === 'full', ready === 'refunded')
    }
  })

  const PENCE = /^Enter an amount in pounds, from 0\.00 to 100000\.00$/

  test('all refusals of the API stand at their fields, with what was typed, and nothing is made', async () => {
    const { api, browser } = await enter(service())
    const right = { amount: '1', reference: 'R', description: 'D', return_url: '', mode: 'web' }
    const moto_api = { mode: 'moto_api' }
    for (const [field, typed, message, more] of [
      ['amount', '', PENCE],
      ['amount', '100000.01', PENCE],
      [
        'return_url',
        'https://example.org/',
        /^Return URL is not allowed when .*moto_api$/,
        moto_api,
      ],
      ['cardholder_name', 'a\u0000', /must /],
    ] as const) {
      const fields = { ...right, ...more, [field]: typed }
      const page = await browser.post('payments/new/create', fields)
      assert.equal(page.status, 400, page.text)
      assert.match(elementWith(page, `${field}-error`).text.replace('Error: ', ''), message)
      if (field !== 'cardholder_name')
        assert.equal(elementWith(page, field).attributes.value, typed)
    }
    const all = {
      amount: '-',
      reference: '',
      description: '',
      return_url: 'no',
      postcode: 'x'.repeat(26),
    }
    const page = await browser.post('payments/new/create', { ...right, ...all })
    for (const field of Object.keys(all)) elementWith(page, `${field}-error`)
    const summary = page.elements.find(({ attributes }) =>
      /summary__list/.test(attributes.class ?? ''),
    )
    assert.deepEqual(
      summary?.inside.filter(({ tag }) => tag === 'a').map(({ attributes }) => attributes.href),
      Object.keys(all).map(field => `#${field}`),
    )
    assert.equal((await api.get('/v1/payments')).body.total, 0)
    const moto = await browser.post('payments/new/create', { ...right, ...moto_api })
    assert.equal(moto.done, 'created-without-page')
  })
})
