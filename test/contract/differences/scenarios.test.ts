import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { asking, assertRefused, made } from '../../support/control.ts'
import { paidPayment, read, statusesOf } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onEveryDatabase } from '../../support/service.ts'

onEveryDatabase('Scenarios of govuk-pay', { control: true }, service => {
  const control = asking(service)
  const complete = (api: Client, { payment_id }: Body, body: object = {}) =>
    control(api, `payments/${payment_id}/complete`, body)
  const newAccount = () => service().newAccount('govuk-pay')
  const stateOf = async (api: Client, payment: Body): Promise<string> => {
    const { state, refund_summary } = await read(api, payment)
    return [state.status, state.code, refund_summary.status].filter(Boolean).join(' ')
  }
  const charge = async (api: Client) => {
    const agreement_id = await activeAgreement(api)
    return api.createPayment({ authorisation_mode: 'agreement', agreement_id })
  }

  test('a plan ends a web payment in the request that opens its page, or leaves it at the page to confirm it', async () => {
    const api = await newAccount()
    for (const [plan, status, path, ended] of [
      [{ scenario: 'success' }, 303, /^https:..markets/, 'success pending'],
      [{ scenario: 'success', confirm: false }, 303, /secure.\w+.confirm$/, 'submitted pending'],
      [{ scenario: 'declined' }, 200, undefined, 'failed P0010 unavailable'],
    ] as const) {
      await made(control(api, 'plans', plan))
      const payment = await api.createPayment()
      const opened = await api.get(payment._links.next_url.href)
      assert.equal(opened.status, status)
      if (path) assert.match(opened.headers.get('location') ?? '', path)
      assert.equal(await stateOf(api, payment), ended)
    }
  })

  test('a payment that is submitted is confirmed or cancelled by its user, cancelled by the API, and never declined', async () => {
    const api = await newAccount()
    const submit = { scenario: 'success', confirm: false }
    const all = await Promise.all([1, 2, 3, 4].map(() => made(control(api, 'payments', submit))))
    const [confirmed, left, cancelled, completed] = all
    assert.equal((await complete(api, confirmed, { scenario: 'declined' })).status, 409)
    assert.equal((await complete(api, confirmed, submit)).status, 409)
    const { href } = left._links.next_url
    await api.postForm(`${confirmed._links.next_url.href}/confirm`, {})
    assert.equal((await api.postForm(`${href}/confirm`, { scenario: 'cancel' })).status, 200)
    await api.post(`/v1/payments/${cancelled.payment_id}/cancel`)
    await made(complete(api, completed))
    assert.deepEqual(await Promise.all(all.map(each => stateOf(api, each))), [
      'success pending',
      'failed P0030 unavailable',
      'cancelled P0040 unavailable',
      'success pending',
    ])
    assert.equal((await read(api, left)).card_details.last_digits_card_number, '4242')
    assert.deepEqual(await statusesOf(api, left), ['created', 'started', 'submitted', 'failed'])
  })

  test('a capture that is held comes when it is completed, and one that fails when it is due', async () => {
    const api = await newAccount()
    await made(control(api, 'plans', { capture: 'held' }))
    const held = await paidPayment(api)
    await made(control(api, 'plans', { capture: 'error' }))
    const failing = await paidPayment(api)
    const delayed = await paidPayment(api, { delayed_capture: true })
    await made(control(api, 'plans', { on: 'capturePayment', capture: 'held' }))
    await api.post(`/v1/payments/${delayed.payment_id}/capture`)
    assert.equal(await stateOf(api, failing), 'success pending')
    await api.advance(60_000)
    assert.deepEqual(await Promise.all([held, failing, delayed].map(each => stateOf(api, each))), [
      'success pending',
      'error P0050 unavailable',
      'success pending',
    ])
    assert.deepEqual((await read(api, failing)).settlement_summary, {})
    assert.equal((await statusesOf(api, failing)).at(-1), 'error')
    await made(complete(api, held, { capture: true }))
    await made(complete(api, delayed, { capture: 'error' }))
    assert.equal(await stateOf(api, held), 'success available')
    assert.equal(await stateOf(api, delayed), 'error P0050 unavailable')
    assert.equal((await complete(api, held, { capture: true })).status, 409)
  })

  test('a charge that is held stays started until it is completed, and then ends as its plan said', async () => {
    const api = await newAccount()
    await made(control(api, 'plans', { hold: true, scenario: 'declined', can_retry: true }))
    const declined = await charge(api)
    await made(control(api, 'plans', { hold: true }))
    const paid = await charge(api)
    await api.advance(86_400_000)
    assert.equal(await stateOf(api, paid), 'started unavailable')
    await made(complete(api, declined))
    await made(complete(api, paid))
    assert.equal(await stateOf(api, paid), 'success unavailable')
    assert.equal((await read(api, declined)).state.can_retry, true)
    const soon = await charge(api)
    await made(complete(api, soon, { scenario: 'error' }))
    assert.equal(await stateOf(api, soon), 'error P0050 unavailable')
  })

  test('refunds that are held stay submitted until all of them are completed, which dates their last events', async () => {
    const api = await newAccount()
    const payment = await made(control(api, 'payments', { scenario: 'success', capture: true }))
    const refunds = `/v1/payments/${payment.payment_id}/refunds`
    const statuses = async () =>
      (await api.get(refunds)).body._embedded.refunds.map(({ status }: Body) => status)
    for (const [refund, ended, available] of [
      ['error', 'error', 1450],
      [true, 'success', 1410],
    ] as const) {
      await made(control(api, 'plans', { refund: 'held', times: 20 }))
      for (let i = 0; i < 20; i++) {
        await api.post(refunds, { amount: 2 })
        // Below the limit of requests in a second.
        if (i % 10 === 9) service().clock.advance(1_000)
      }
      await api.advance(60_000)
      assert.ok((await statuses()).slice(-20).every((each: string) => each === 'submitted'))
      assert.equal((await read(api, payment)).refund_summary.amount_available, 1410)
      await made(complete(api, payment, { refund }))
      assert.ok((await statuses()).slice(-20).every((each: string) => each === ended))
      assert.equal((await read(api, payment)).refund_summary.amount_available, available)
    }
    assert.equal((await complete(api, payment, { refund: true })).status, 409)
    await made(control(api, 'plans', { on: 'refundPayment', scenario: 'error' }))
    await api.post(refunds, { amount: 5 })
    await api.advance(3_000)
    await api.post(refunds, { amount: 6 })
    await api.advance(3_000)
    const { events } = (await api.get(`/v1/payments/${payment.payment_id}/events`)).body
    const at = (time: string) => (Date.parse(time) - Date.parse(payment.created_date)) / 1_000
    const seen = events.slice(4).map((each: Body) => `${each.state.status} ${at(each.updated)}`)
    const last = ['submitted 124', 'submitted 127', 'success 127', 'error 129']
    const held = [...Array(20).fill('error 62'), ...Array(20).fill('success 124')]
    assert.deepEqual(seen, ['submitted 0', ...held, ...last])
  })

  test('a payment is built at once: a refund captures it first', async () => {
    const api = await newAccount()
    const agreement_id = await activeAgreement(api)
    const mode = { authorisation_mode: 'agreement', agreement_id }
    for (const [fields, state] of [
      [{ scenario: 'success' }, 'success pending'],
      [{ scenario: 'success', capture: true }, 'success available'],
      [{ scenario: 'success', capture: 'error' }, 'error P0050 unavailable'],
      [{ scenario: 'success', refund: true }, 'success full'],
      [{ scenario: 'success', delayed_capture: true }, 'capturable unavailable'],
      [{ scenario: 'success', delayed_capture: true, capture: true }, 'success available'],
      [{ scenario: 'success', delayed_capture: true, cancel: true }, 'cancelled P0040 unavailable'],
      [mode, 'started unavailable'],
      [{ ...mode, scenario: 'success' }, 'success unavailable'],
      [{ ...mode, refund: 1 }, 'success available'],
      [{ ...mode, hold: true, scenario: 'error' }, 'started unavailable'],
    ] as const) {
      const payment = await made(control(api, 'payments', fields))
      assert.equal(await stateOf(api, payment), state, JSON.stringify(fields))
    }
    const least = [{ amount: 0 }, 'amount', 'P0102'] as const
    await assertRefused(service(), api, 'payments', [[{ ...mode, cancel: true }, 'cancel'], least])
  })
})
