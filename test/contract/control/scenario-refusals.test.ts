import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { ask, made } from '../../support/control.ts'
import { authorise } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'Scenarios that cannot be',
  service => {
    const control = (api: Client, path: string, body?: object, method?: string) =>
      ask(service(), api, path, body, method)

    test('what no payment of the mode can do is refused when that is known', async () => {
      const api = await service().newAccount()
      const agreement_id = await activeAgreement(api)
      const by = { agreement_id }
      const moto = { authorisation_mode: 'moto_api' }
      for (const [path, body, field] of [
        ['plans', { scenario: 'expired' }, 'scenario'],
        ['plans', { scenario: 'cancel', given: by }, 'scenario'],
        ['plans', { scenario: 'error', given: moto }, 'scenario'],
        ['plans', { scenario: 'cancel', given: { authorisation_mode: 'agreement' } }, 'scenario'],
        ['plans', { scenario: 'declined', can_retry: false, given: moto }, 'can_retry'],
        ['plans', { scenario: 'success', can_retry: true }, 'can_retry'],
        ['plans', { can_retry: true }, 'can_retry'],
        ['plans', { scenario: 'declined', can_retry: 'no' }, 'can_retry'],
        ['plans', { scenario: 'cancel', hold: true }, 'hold'],
        ['plans', { hold: false }, 'hold'],
        ['plans', { hold: true, delay: 1 }, 'delay'],
        ['plans', { on: 'refundPayment', scenario: 'declined' }, 'scenario'],
        ['plans', { on: 'refundPayment', hold: true }, 'hold'],
        ['plans', { on: 'cancelPayment', hold: true }, 'on'],
        ['payments', { ...moto, scenario: 'cancel' }, 'scenario'],
        ['payments', { authorisation_mode: 'agreement', ...by, scenario: 'cancel' }, 'scenario'],
        ['payments', { scenario: 'declined', can_retry: true }, 'can_retry'],
        ['payments', { scenario: 'expired', hold: true }, 'hold'],
        ['payments', { scenario: 'success', hold: true, refund: 1 }, 'refund'],
        ['payments', { scenario: 'success', hold: true, cancel: true }, 'cancel'],
        [
          'payments',
          { scenario: 'success', refund: { amount: 1, scenario: 'declined' } },
          'refund.scenario',
        ],
        ['payments', { scenario: 'success', refund: { amount: 0 } }, 'refund'],
        ['payments', { scenario: 'success', refund: { sum: 1 } }, 'refund.sum'],
      ] as const) {
        const { status, body: refused } = await control(api, path, body)
        assert.deepEqual([status, refused.field], [422, field], JSON.stringify(body))
      }
      assert.equal((await api.get('/v1/payments')).body.total, 1)
    })

    test('a plan that meets a payment which cannot end so lets it pass, and says why', async () => {
      const api = await service().newAccount()
      const agreement_id = await activeAgreement(api)
      await made(control(api, 'plans', { scenario: 'cancel' }))
      await made(control(api, 'plans', { scenario: 'declined', can_retry: true }))
      await made(control(api, 'plans', { scenario: 'error', given: { reference: 'web' } }))
      const moto = await api.createPayment({ authorisation_mode: 'moto_api', reference: 'moto' })
      assert.equal((await authorise(api, moto)).status, 204)
      const fields = { authorisation_mode: 'agreement', agreement_id, reference: 'monthly' }
      assert.equal((await api.createPayment(fields)).state.code, 'P0010')
      const { results } = (await control(api, 'plans')).body
      assert.deepEqual(
        results.map(({ seen, acted, note }: Body) => [seen, acted, note]),
        [
          [
            2,
            0,
            'it did not act on monthly: scenario must be one of success, declined, error, expired for a payment with authorisation_mode agreement',
          ],
          [2, 1, 'it did not act on moto: can_retry needs authorisation_mode agreement'],
          [0, 0, undefined],
        ],
      )
      const { href } = (await api.createPayment({ reference: 'web' }))._links.next_url
      assert.equal((await api.get(href)).status, 200)
      const [first] = (await control(api, 'plans')).body.results
      assert.deepEqual([first.seen, first.acted], [3, 1])
    })
  },
  { control: true },
)
