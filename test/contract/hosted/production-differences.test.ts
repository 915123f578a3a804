import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choose, payOnPages, read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Pages as those of production', service => {
  test('a prefilled address without a country, or with one that does not exist, is in the United Kingdom', async () => {
    const api = await service().newAccount()
    for (const [given, country, name] of [
      [undefined, 'GB', 'United Kingdom'],
      ['Albion', 'GB', 'United Kingdom'],
      ['XX', 'GB', 'United Kingdom'],
      ['fr', 'fr', 'France'],
    ] as const) {
      const billing_address = { line1: '1 Road', ...(given && { country: given }) }
      const payment = await api.createPayment({ prefilled_cardholder_details: { billing_address } })
      const { href } = payment._links.next_url
      await choose(api, payment, 'success')
      for (const page of [await api.get(href), await api.get(`${href}/confirm`)])
        assert.match(page.text, new RegExp(`<data value="${country}">${name}</data>`))
      await payOnPages(api, payment)
      const { card_details } = await read(api, payment)
      assert.equal(card_details.billing_address.country, country)
    }
  })

  test('a payment that sets up an agreement shows its description, and says that the card will be kept', async () => {
    const api = await service().newAccount()
    const description = 'Monthly <b>plan</b>'.replace(/[<>]/g, '')
    const { body } = await api.post('/v1/agreements', { reference: 'PLAN-8', description })
    for (const [language, kept] of [
      ['en', 'Your card details will be saved for future payments under this agreement.'],
      ['cy', 'Bydd manylion eich cerdyn yn cael eu cadw'],
    ] as const) {
      const payment = await api.createPayment({ language, set_up_agreement: body.agreement_id })
      const { href } = payment._links.next_url
      await choose(api, payment, 'success')
      for (const page of [await api.get(href), await api.get(`${href}/confirm`)]) {
        assert.ok(page.text.includes(kept))
        assert.match(page.text, new RegExp(`id="agreement-description"[^>]*>${description}<br>`))
      }
    }
    const plain = await api.get((await api.createPayment())._links.next_url.href)
    assert.doesNotMatch(plain.text, /agreement-description/)
  })

  test('an address that a client has built itself is told that only next_url leads to a payment', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    const { status, text } = await api.get(`/card_details/${payment_id}`, { Accept: 'text/html' })
    assert.equal(status, 404)
    assert.match(text, /only the next_url of a payment leads to its page/)
  })
})
