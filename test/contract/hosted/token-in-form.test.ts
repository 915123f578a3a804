import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../../support/client.ts'
import { met, press } from '../../support/hosted-page.ts'
import { newPayment, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const DETAILS = 'Enter payment details'
const CONFIRM = 'Confirm your payment'
const NOT_FOUND = 'Page not found'

const tokenOf = (payment: Body): { chargeTokenId: string } => payment._links.next_url_post.params

onSharedDatabases('Hosted pages: POST /secure', service => {
  test('POST /secure with chargeTokenId alone shows the details page and starts the payment', async () => {
    const { api, payment } = await newPayment(service())
    const { href, params } = payment._links.next_url_post
    assert.deepEqual(met(await api.postForm(href, params)), [200, DETAILS])
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
    assert.deepEqual(met(await api.postForm(href, params)), [200, DETAILS])
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started'])
  })

  test('the forms of POST /secure lead through the whole journey without the token in any address', async () => {
    const { api, payment } = await newPayment(service())
    const token = tokenOf(payment).chargeTokenId
    const details = await api.postForm('/secure', tokenOf(payment))
    const nothing = await press(api, details, 'submit-card-details')
    assert.deepEqual(met(nothing), [400, DETAILS])
    const confirm = await press(api, nothing, 'submit-card-details', [['scenario', 'success']])
    assert.deepEqual(met(confirm), [200, CONFIRM])
    const done = await press(api, confirm, 'confirm')
    assert.deepEqual(met(done), [303, payment.return_url])
    for (const { text } of [details, nothing, confirm])
      for (const [, address = ''] of text.matchAll(/(?:href|src|action)="([^"]*)"/g))
        assert.ok(!address.includes(token), address)
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', 'success'])
  })

  test('one journey may use both POST /secure and /secure/{token}', async () => {
    const { api, payment } = await newPayment(service())
    const page = payment._links.next_url.href
    await api.postForm('/secure', { ...tokenOf(payment), step: 'details', scenario: 'success' })
    assert.deepEqual(met(await api.get(`${page}/confirm`)), [200, CONFIRM])
    const done = await api.postForm('/secure', { ...tokenOf(payment), step: 'confirm' })
    assert.deepEqual(met(done), [303, payment.return_url])
  })

  test('POST /secure shows the Page not found page when chargeTokenId is missing, empty, unknown or repeated', async () => {
    const { api, payment } = await newPayment(service())
    const { chargeTokenId } = tokenOf(payment)
    const forms: [string, string][][] = [
      [],
      [['chargeTokenId', '']],
      [['chargeTokenId', 'x'.repeat(52)]],
      [
        ['chargeTokenId', chargeTokenId],
        ['chargeTokenId', chargeTokenId],
      ],
      [['chargetokenid', chargeTokenId]],
    ]
    for (const form of forms)
      for (const step of [undefined, 'details', 'confirm'])
        assert.deepEqual(
          met(await api.postForm('/secure', step ? [...form, ['step', step]] : form)),
          [404, NOT_FOUND],
        )
    assert.deepEqual(await read(api, payment), payment)
  })

  test('POST /secure reads the token from the form and not from the query', async () => {
    const { api, payment } = await newPayment(service())
    const query = new URLSearchParams(tokenOf(payment))
    assert.deepEqual(met(await api.postForm(`/secure?${query}`, {})), [404, NOT_FOUND])
    assert.deepEqual(met(await api.get(`/secure?${query}`)), [404, NOT_FOUND])
  })
})
