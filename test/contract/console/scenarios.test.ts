import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../../src/core/time.ts'
import type { Body, Client } from '../../support/client.ts'
import { byId, enter, rowsOf, type Shown } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { pageOf } from '../../support/hosted-page.ts'
import { read } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const PLANNED = 'What is planned, in the order in which it is looked at'

const madeAt = (api: Client, { location }: Shown) =>
  read(api, { payment_id: location?.split('/')[1] })

onSharedDatabases('Scenarios in the console', { control: true }, service => {
  test('the page of a charge that waits, and of a payment that is submitted, has a button for each of its ends', async () => {
    const { api, browser } = await enter(service(), 'govuk-pay')
    const agreement_id = await activeAgreement(api)
    const charge = { authorisation_mode: 'agreement', agreement_id }
    const submitted = { scenario: 'success', confirm: false }
    const make = async (fields: object): Promise<Body> =>
      (await ask(service(), api, 'payments', fields)).body
    for (const [given, scenario, end, others] of [
      [charge, 'success', 'success', ['declined', 'error']],
      [{ ...charge, hold: true }, 'declined', 'P0010', ['error', 'success']],
      [submitted, 'success', 'success', ['cancel']],
      [submitted, 'cancel', 'P0030', ['success']],
      [{ scenario: 'success', capture: 'held' }, 'capture-error', 'P0050', ['capture']],
    ] as const) {
      const payment = await make(given)
      const page = await browser.get(`payments/${payment.payment_id}`)
      const buttons = page.elements.flatMap(({ attributes }) => attributes.id ?? [])
      const expected = [scenario, ...others].map(each => `choose-${each}`)
      assert.deepEqual(buttons.filter(id => /^choose-/.test(id)).sort(), expected.sort())
      const hasPage = page.html.includes('id="open-payment-page"')
      assert.equal(hasPage, given === submitted, 'only a web payment has a page')
      await browser.post(`payments/${payment.payment_id}/complete`, { scenario })
      const { state } = await read(api, payment)
      assert.equal(state.code ?? state.status, end)
    }
  })

  test('what the next request does is planned, listed with what it did, and removed, and the plan is that of control', async () => {
    const { api, browser } = await enter(service())
    const plan = (fields: Record<string, string>) => browser.post('accounts/plan', fields)
    for (const [fields, field, error] of [
      [{}, 'scenario', /Choose what is to happen/],
      [{ scenario: 'held' }, 'scenario', /Choose/],
      [{ scenario: 'declined', agreement: 'x' }, 'agreement', /Enter the ID of an agreement/],
      [{ scenario: 'cancel', agreement: '0'.repeat(26) }, 'scenario', /must be one of/],
    ] as const) {
      const refused = await plan({ ...fields })
      assert.equal(refused.status, 400, refused.text)
      assert.match(byId(refused, `${field}-error`).text, error)
    }
    const { location, done } = await plan({ scenario: 'declined', reference: 'R-planned' })
    assert.deepEqual([location, done], ['accounts', 'planned'])
    await plan({ scenario: '429', times: 'always' })
    await plan({ scenario: 'refund-error' })
    await ask(service(), api, 'plans', { delay: [10, 20] })
    const plans = async () => (await ask(service(), api, 'plans')).body.results
    const [{ scenario, given, times }, { plan_id, answer, on }] = await plans()
    assert.deepEqual([scenario, given, times], ['declined', { reference: 'R-planned' }, 1])
    assert.deepEqual([answer, on], [{ status: 429 }, 'createPayment'])
    await browser.post('accounts/remove-plan', { plan_id })
    assert.equal((await plans()).length, 3)
    const payment = await api.createPayment({ reference: 'R-planned' })
    await api.get(pageOf(payment))
    const { state } = await read(api, payment)
    assert.equal(state.code, 'P0010', 'the plan acts when the page is opened')
    const page = await browser.get(`payments/${payment.payment_id}`)
    assert.match(page.text, /Chosen end declined, by a plan/)
    const rows = rowsOf(await browser.get('accounts'), PLANNED)
    assert.deepEqual(
      rows.map(([what = '', ...by]) => [/^[^{\n]+/.exec(what)?.[0].trim(), ...by.slice(0, 3)]),
      [
        ['Payment: declined', 'reference R-planned', 'once', 'acted 1 time'],
        ['Refund: fails after it was accepted', 'any', 'once', 'nothing yet'],
        ['A plan for any request', 'any', 'once', 'acted 1 time, met 3 times'],
      ],
    )
  })

  test('the clock moves by a step or to a time, does what falls due, and goes back to now with an empty account', async () => {
    const { api, browser } = await enter(service(), 'govuk-pay')
    const { payment_id } = await api.createPayment()
    const clock = async () => (await ask(service(), api, 'clock')).body
    const before = Date.parse((await clock()).now)
    for (const advance of ['5000', '7200000'])
      assert.equal((await browser.post('accounts/clock', { advance })).done, 'clock-moved')
    assert.ok(Date.parse((await clock()).now) - before >= 7_205_000)
    assert.equal((await read(api, { payment_id })).state.code, 'P0020', 'it has expired')
    for (const to of ['', 'soon', '2001-01-01', '2150-01-01']) {
      const refused = await browser.post('accounts/clock', { to })
      assert.match(byId(refused, 'to-error').text, /Enter a day .*later than the clock/, to)
    }
    await browser.post('accounts/clock', { to: '2026-12-01 08:20' })
    assert.match((await clock()).now, /^2026-12-01T08:20:/)
    assert.equal((await browser.post('accounts/reset')).done, 'emptied')
    assert.ok(Date.parse((await clock()).now) - before < DAY)
    assert.equal((await api.get(`/v1/payments/${payment_id}`)).status, 404)
  })

  test('a payment, a charge and a refund that are made here end as their forms say', async () => {
    const { api, browser } = await enter(service(), 'govuk-pay')
    const agreement_id = await activeAgreement(api)
    const form = { amount: '5', reference: 'R-s', description: 'd', mode: 'web' }
    const make = (scenario: string, more = {}) =>
      browser.post('payments/new/create', { ...form, scenario, ...more })
    const refused = await make('cancel', { mode: 'moto_api' })
    assert.match(byId(refused, 'scenario-error').text, /How it ends must be one of success/)
    for (const [scenario, mode, done, text] of [
      ['declined', 'moto_api', 'chosen-without-page', 'declined'],
      ['capture-held', 'web', 'chosen', 'paid, and its capture waits'],
    ] as const) {
      const made = await make(scenario, { mode })
      assert.equal(made.done, done)
      const page = await browser.get(made.location ?? '')
      assert.ok(page.text.includes(`Chosen end ${text}, when it was made`), page.text)
      assert.ok(!/press a button|to pay it/.test(page.text), page.text)
    }
    const payment = await madeAt(api, await make('capture-held'))
    assert.equal(payment.state.status, 'created', 'until its page is opened')
    await api.get(pageOf(payment))
    assert.equal((await read(api, payment)).state.status, 'success')
    const fields = { amount: '5', scenario: 'retry' }
    const charged = await browser.post(`agreements/${agreement_id}/charge`, fields)
    await ask(service(), api, 'clock', { advance: 2_000 })
    const { state } = await madeAt(api, charged)
    assert.deepEqual([state.code, state.can_retry], ['P0010', true])
    await ask(service(), api, 'plans', { on: 'refundPayment', refund: 'held' })
    const built = { scenario: 'success', capture: true }
    const path = `payments/${(await ask(service(), api, 'payments', built)).body.payment_id}`
    const select = byId(await browser.get(path), 'scenario')
    const ends = select.inside.flatMap(({ attributes }) => attributes.value ?? [])
    assert.deepEqual(ends, ['', 'refund-error', 'refund-held'])
    for (const [i, scenario] of [...ends, 'refund-changed', 'declined'].entries())
      await browser.post(`${path}/refund`, { amount: `0.0${i + 1}`, scenario })
    await ask(service(), api, 'clock', { advance: 5_000 })
    const { refunds } = (await api.get(`/v1/${path}/refunds`)).body._embedded
    const statuses = refunds.map(({ amount, status }: Body) => `${amount} ${status}`).sort()
    assert.equal(statuses.join(), '1 success,2 error,3 submitted,4 success,5 success')
    const { text } = await browser.get('accounts')
    assert.match(text, /made in the console end is chosen with them/)
  })

  test('the banner after a charge says how it ended, or that its end comes later', async () => {
    for (const [behaviour, scenario, done] of [
      ['specification', '', 'succeeded'],
      ['specification', 'retry', 'declined'],
      ['specification', 'charge-error', 'error'],
      ['govuk-pay', '', 'charged'],
      ['govuk-pay', 'held', 'charged'],
    ] as const) {
      const { api, browser } = await enter(service(), behaviour)
      const charge = `agreements/${await activeAgreement(api)}/charge`
      const charged = await browser.post(charge, { amount: '5', scenario })
      assert.equal(charged.done, done, `${behaviour} ${scenario}`)
    }
  })

  test('a situation of the check that is not met has its button, and its command only behind it, also if it needs another behaviour or a probe', async () => {
    const { api, browser } = await enter(service())
    await api.post('/v1/webhooks', { callback_url: 'https://1.1.1.1/webhooks' })
    const page = await browser.get('check')
    const rows = rowsOf(page, 'Situations of production')
    const bare = rows.filter(([, , how = '']) => /^(?:curl|farthing)/.test(how))
    assert.deepEqual(bare, [])
    assert.equal(byId(page, 'a-card-is-declined').text, 'Plan it')
    const make = (situation: string) => browser.post('check/make', { situation })
    const { location, done } = await make('A card is declined')
    assert.deepEqual([location, done], ['check', 'planned'])
    const { results } = (await ask(service(), api, 'plans')).body
    assert.deepEqual([results[0].scenario, results.length], ['declined', 1])
    const leadsTo = (id: string) => byId(page, id).attributes.href
    const expires = 'the-user-abandons-the-payment-and-it-expires'
    assert.equal(leadsTo(expires), '../console/accounts#name')
    assert.equal(leadsTo('a-message-comes-twice'), 'webhooks')
    for (const situation of ['The user abandons the payment, and it expires', 'A card'])
      assert.equal((await make(situation)).status, 400)
  })
})

onOneDatabase('The console without control', service => {
  test('without control the pages say who can switch it on, and no form of them does anything', async () => {
    const { api, browser } = await enter(service())
    for (const path of ['accounts', 'check']) {
      const page = await browser.get(path)
      assert.match(page.text, /Ask whoever runs Farthing: the setting FARTHING_CONTROL=true/)
      assert.ok(!page.html.includes('Plan it'), path)
    }
    const fields = { advance: '5000', scenario: '429' }
    for (const path of ['accounts/clock', 'accounts/reset', 'accounts/plan', 'check/make'])
      assert.equal((await browser.post(path, fields)).status, 404, path)
    const form = { amount: '5', reference: 'R-s', description: 'd', scenario: 'declined' }
    const payment = await madeAt(api, await browser.post('payments/new/create', form))
    await api.get(pageOf(payment))
    assert.equal((await read(api, payment)).state.status, 'started')
    const { location = '' } = await browser.post('payments/new/create', { ready: 'paid' })
    await browser.post(`${location}/refund`, { amount: '1', scenario: 'refund-held' })
    const { html } = await browser.get(location)
    assert.ok(!/id="(scenario|choose-refund)"/.test(html), 'the refund ends by itself')
  })
})
