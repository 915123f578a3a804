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
      ] as const) {
        const payment = await make(given)
        const page = await browser.get(`payments/${payment.payment_id}`)
        const buttons = page.elements
          .filter(tagged('button'))
          .map(({ attributes }) => attributes.id ?? '')
          .filter(id => id.startsWith('choose-'))
        const expected = [scenario, ...others].map(each => `choose-${each}`)
        assert.deepEqual(buttons.toSorted(), expected.toSorted())
        await browser.post(`payments/${payment.payment_id}/complete`, { scenario })
        const { state } = await read(api, payment)
        assert.equal(state.code ?? state.status, end)
      }
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
