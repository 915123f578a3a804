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
  },
  { control: true },
)
