import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgreement, payByAgreement } from '../../support/agreements.ts'
import { byId, enter, headingOf } from '../../support/console.ts'
import { paidPayment } from '../../support/journeys.ts'
import { onEveryDatabase } from '../../support/service.ts'

onEveryDatabase('Agreements in the console', service => {
  const start = async () => {
    const entered = await enter(service())
    const agree = async (reference: string): Promise<string> => {
      service().clock.advance(5)
      const fields = { reference, description: 'A club' }
      return (await createAgreement(entered.api, fields)).agreement_id
    }
    return { ...entered, agree }
  }

  test('the list has the newest first, and a page its card and the payments that were made with it', async () => {
    const { api, browser, agree } = await start()
    const first = await agree('CLUB-1')
    const second = await agree('CLUB-2')
    const list = await browser.get('agreements')
    assert.match(list.text, /\w+day,? \d+ \w+ \d{4} ?CLUB-2 ?created ?A club ?none.* CLUB-1/)
    assert.match((await browser.get(`agreements/${second}`)).text, /Card none yet/)
    await paidPayment(api, { reference: 'R-set-up', set_up_agreement: first })
    service().clock.advance(5)
    await payByAgreement(api, { agreement_id: first }, { reference: 'R-monthly' })
    const page = await browser.get(`agreements/${first}`)
    assert.equal(headingOf(page), 'CLUB-1 active')
    assert.match(page.text, /Card Visa 424242 … 4242, expires/)
    const payments = /R-monthly£25\.00success ?take a payment.*R-set-up£46\.50success ?set it up/
    assert.match(page.text, payments)
  })

  test('an agreement is made, set up and charged without a terminal, and all errors of a form are told', async () => {
    const { api, browser } = await start()
    const wrong = await browser.post('agreements/new/agree', { reference: ' ' })
    assert.equal(wrong.status, 400)
    assert.match(byId(wrong, 'reference-error').text, /Reference is required/)
    assert.match(byId(wrong, 'description-error').text, /Description is required/)
    const fields = { reference: 'CLUB-7', description: 'Rowing' }
    const made = await browser.post('agreements/new/agree', fields)
    assert.deepEqual([made.status, made.done], [303, 'agreed'])
    const path = made.location ?? ''
    assert.equal(headingOf(await browser.get(path)), 'CLUB-7 created')
    const early = await browser.post(`${path}/charge`, { amount: '5' })
    assert.deepEqual([early.status, early.location], [400, undefined])
    assert.equal((await browser.post(`${path}/set-up`)).done, 'succeeded')
    assert.equal(headingOf(await browser.get(path)), 'CLUB-7 active')
    const refused = await browser.post(`${path}/charge`, { amount: 'x' })
    assert.match(byId(refused, 'amount-error').text, /Enter an amount in pounds/)
    const charged = await browser.post(`${path}/charge`, { amount: '5.25' })
    const { state, amount, authorisation_mode } = (await api.get(`/v1/${charged.location}`)).body
    assert.deepEqual([state.status, amount, authorisation_mode], ['success', 525, 'agreement'])
    assert.match((await browser.get(path)).text, /£5\.25success ?take a payment/)
    assert.equal((await api.get('/v1/payments')).body.total, 2)
  })

  test('an agreement can be cancelled where the API allows it, and is refused in the words of the API', async () => {
    const { api, browser, agree } = await start()
    const id = await agree('CLUB-3')
    byId(await browser.get(`agreements/${id}`), 'cancel')
    assert.equal((await browser.post(`agreements/${id}/cancel`)).done, 'agreement-cancelled')
    const page = await browser.get(`agreements/${id}`)
    assert.match(page.text, /Date cancelled 20/)
    assert.equal((await api.get(`/v1/agreements/${id}`)).body.status, 'cancelled')
    const pay = await enter(service(), 'govuk-pay')
    const { agreement_id } = await createAgreement(pay.api)
    for (const [by, path, refusal] of [
      [browser, id, 'The agreement is already cancelled'],
      [pay.browser, agreement_id, 'An agreement that is created cannot be cancelled'],
    ] as const) {
      assert.ok(!(await by.get(`agreements/${path}`)).html.includes('id="cancel"'))
      const { status, text } = await by.post(`agreements/${path}/cancel`)
      assert.deepEqual([status, text.includes(`There is a problem ${refusal}`)], [400, true], text)
    }
    const { browser: stranger } = await start()
    for (const path of [id, '06g9u000000000000000000000']) {
      assert.equal((await stranger.get(`agreements/${path}`)).status, 404)
      assert.equal((await stranger.post(`agreements/${path}/cancel`)).status, 404)
    }
  })
})
