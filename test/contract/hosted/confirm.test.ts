import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { elementsOf, only, withId } from '../../hosted/document.ts'
import type { Body, Client } from '../../support/client.ts'
import { confirmOf, headings, met, pageOf } from '../../support/hosted-page.ts'
import { choose, newPayment, read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

/** The path of a link. Within the service, Location is a path. */
const path = (href: string): string => new URL(href).pathname

async function stateOf(api: Client, payment: Body) {
  return (await read(api, payment)).state
}

onSharedDatabases('Hosted pages: confirm page', service => {
  describe('GET', () => {
    test('GET confirm redirects to the first page and changes nothing when success was not chosen', async () => {
      const { api, payment } = await newPayment(service())
      assert.deepEqual(met(await api.get(confirmOf(payment))), [303, path(pageOf(payment))])
      assert.deepEqual(await read(api, payment), payment)
    })

    test('GET confirm shows the Confirm your payment page with the mock card', async () => {
      const { api, payment } = await newPayment(service())
      await choose(api, payment, 'success')
      const before = await read(api, payment)
      const answer = await api.get(confirmOf(payment))
      assert.deepEqual(met(answer), [200, headings.confirm])
      const shown = elementsOf(answer.text)
      const text = (id: string) => only(shown, withId(id)).text
      assert.equal(text('card-type'), 'Visa credit')
      assert.equal(text('card-number'), 'Ending in 4242')
      assert.equal(text('expiry-date'), '12/29')
      assert.equal(text('cardholder-name'), 'Demo Cardholder')
      assert.equal(text('address'), '1 Sample StreetSampletonZZ1 1ZZUnited Kingdom')
      assert.equal(text('amount'), '£46.50')
      assert.deepEqual(await read(api, payment), before)
    })
  })

  describe('POST', () => {
    for (const opened of [false, true])
      test(`POST confirm redirects to the first page when success was not chosen, page ${opened ? '' : 'not '}opened`, async () => {
        const { api, payment } = await newPayment(service())
        if (opened) await api.get(pageOf(payment))
        const before = await read(api, payment)
        const answer = await api.postForm(confirmOf(payment), {})
        assert.deepEqual(met(answer), [303, path(pageOf(payment))])
        assert.deepEqual(await read(api, payment), before)
      })

    for (const delayed_capture of [false, true]) {
      const last = delayed_capture ? 'capturable' : 'success'
      test(`POST confirm completes the payment as ${last} and redirects to return_url`, async () => {
        const { api, payment } = await newPayment(service(), { delayed_capture })
        await api.get(pageOf(payment))
        await choose(api, payment, 'success')
        const answer = await api.postForm(confirmOf(payment), {})
        assert.deepEqual(met(answer), [303, payment.return_url])
        assert.equal((await stateOf(api, payment)).status, last)
        assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', last])
      })
    }

    test('POST confirm with any field but scenario=cancel confirms the payment', async () => {
      const api = await service().newAccount()
      for (const fields of [{ confirm: 'yes' }, { scenario: 'declined' }, { scenario: 'x' }]) {
        const payment = await api.createPayment()
        await choose(api, payment, 'success')
        const answer = await api.postForm(confirmOf(payment), fields)
        assert.deepEqual(met(answer), [303, payment.return_url])
        assert.equal((await stateOf(api, payment)).status, 'success')
      }
    })

    for (const chosen of [true, false])
      test(`POST confirm with cancel, also beside another scenario, fails the payment, success ${chosen ? '' : 'not '}chosen`, async () => {
        const { api, payment } = await newPayment(service())
        await api.get(pageOf(payment))
        if (chosen) await choose(api, payment, 'success')
        const answer = await api.postForm(confirmOf(payment), [
          ['scenario', 'success'],
          ['scenario', 'cancel'],
        ])
        assert.deepEqual(met(answer), [200, headings.cancelled])
        assert.equal((await stateOf(api, payment)).code, 'P0030')
        assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
        assert.equal((await read(api, payment)).card_details, undefined)
      })
  })

  describe('finished and capturable payments', () => {
    const ends: [
      name: string,
      fields: Record<string, unknown>,
      end: (api: Client, payment: Body) => Promise<unknown>,
    ][] = [
      ['success', {}, confirmed],
      ['capturable', { delayed_capture: true }, confirmed],
      [
        'failed because the card was declined',
        {},
        (api, payment) => choose(api, payment, 'declined'),
      ],
      ['error', {}, (api, payment) => choose(api, payment, 'error')],
      ['cancelled through the API', {}, (api, payment) => api.post(payment._links.cancel.href)],
    ]
    for (const [name, fields, end] of ends)
      test(`every page redirects to the exact return_url and changes nothing for a payment that is ${name}`, async () => {
        const { api, payment } = await newPayment(service(), fields)
        await end(api, payment)
        const before = await read(api, payment)
        const token = payment._links.next_url_post.params
        const answers = [
          await api.get(pageOf(payment)),
          await api.request('HEAD', pageOf(payment)),
          await choose(api, payment, 'success'),
          await choose(api, payment, 'cancel'),
          await api.postForm(pageOf(payment), {}),
          await api.get(confirmOf(payment)),
          await api.postForm(confirmOf(payment), {}),
          await api.postForm(confirmOf(payment), { scenario: 'cancel' }),
          await api.postForm('/secure', token),
          await api.postForm('/secure', { ...token, step: 'details' }),
          await api.postForm('/secure', { ...token, step: 'details', scenario: 'declined' }),
          await api.postForm('/secure', { ...token, step: 'confirm' }),
        ]
        for (const answer of answers) assert.deepEqual(met(answer), [303, payment.return_url])
        assert.deepEqual(await read(api, payment), before)
      })
  })
})

async function confirmed(api: Client, payment: Body): Promise<void> {
  await choose(api, payment, 'success')
  await api.postForm(confirmOf(payment), {})
}
