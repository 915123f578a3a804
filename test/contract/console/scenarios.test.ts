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
  },
  { control: true },
)
