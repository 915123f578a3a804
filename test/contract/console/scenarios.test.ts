import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tagged } from '../../hosted/document.ts'
import type { Body } from '../../support/client.ts'
import { enter } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { read } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'Scenarios in the console',
  service => {
    test('the page of a payment that is held has a button for each of its ends, and one that lets it expire', async () => {
      const { api, browser } = await enter(service())
      const agreement_id = await activeAgreement(api)
      const held = { authorisation_mode: 'agreement', agreement_id, hold: true }
      const make = async (fields: object): Promise<Body> =>
        (await ask(service(), api, 'payments', fields)).body
      const web = { scenario: 'success', hold: true }
      for (const [given, scenario, end] of [
        [web, 'success', 'success'],
        [web, 'declined', 'P0010'],
        [web, 'error', 'P0050'],
        [web, 'expired', 'P0020'],
        [held, 'expired', 'P0020'],
      ] as const) {
        const payment = await make(given)
        const page = await browser.get(`payments/${payment.payment_id}`)
        const buttons = page.elements
          .filter(tagged('button'))
          .map(({ attributes }) => attributes.id ?? '')
          .filter(id => id.startsWith('choose-'))
        assert.deepEqual(buttons.toSorted(), [
          'choose-declined',
          'choose-error',
          'choose-expired',
          'choose-success',
        ])
        await browser.post(`payments/${payment.payment_id}/complete`, { scenario })
        const { state } = await read(api, payment)
        assert.equal(state.code ?? state.status, end)
      }
      const over = await make({ scenario: 'declined' })
      const page = await browser.get(`payments/${over.payment_id}`)
      assert.ok(!page.elements.some(({ attributes }) => attributes.id === 'choose-expired'))
    })

    test('a message can be sent as GOV.UK Pay sends it, and the page of a webhook says that all are', async () => {
      const { api, browser } = await enter(service())
      const callback_url = 'https://hooks.example.org/'
      const { external_id } = (await api.post('/v1/webhooks', { callback_url })).body
      await ask(service(), api, 'payments', { scenario: 'declined' })
      const [message] = (await ask(service(), api, 'messages')).body.results
      const path = `messages/${message.message_id}`
      const page = await browser.get(path)
      const send = page.elements.find(({ attributes }) => attributes.id === 'send-as-govuk-pay')
      assert.deepEqual([send?.attributes.name, send?.attributes.value], ['as', 'govuk-pay'])
      await browser.post(`${path}/send`, { as: 'govuk-pay' })
      const after = await browser.get(path)
      assert.match(after.text, /Edited/)
      const says = async () => (await browser.get(`webhooks/${external_id}`)).text
      assert.doesNotMatch(await says(), /as GOV\.UK Pay sends them/)
      await ask(service(), api, `webhooks/${external_id}`, { as: 'govuk-pay' }, 'PUT')
      assert.match(await says(), /as GOV\.UK Pay sends them/)
    })
  },
  { control: true },
)
