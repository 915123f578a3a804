import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { ask, asking } from '../../support/control.ts'
import { choose, read, statusesOf } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { interleaving } from '../../support/watched.ts'

onSharedDatabases('Races of scenarios', { control: true }, service => {
  const control = asking(service)
  const complete = (api: Client, { payment_id }: Body, body: object) =>
    control(api, `payments/${payment_id}/complete`, body)
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()
  const messagesOf = async (api: Client, { payment_id }: Body): Promise<string[]> =>
    (await control(api, `messages?payment_id=${payment_id}`)).body.results.map(
      ({ event_type }: Body) => event_type,
    )

  test('only one of two simultaneous completions of a payment wins, and only its messages are sent', async () => {
    const api = await service().newAccount()
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    for (const [one, other] of [
      ['success', 'declined'],
      ['cancel', 'error'],
      ['success', 'success'],
    ]) {
      const payment = await api.createPayment()
      const answers = await Promise.all(
        [one, other].map(scenario => complete(api, payment, { scenario })),
      )
      assert.deepEqual(statuses(answers), [200, 409])
      const won = answers.find(({ status }) => status === 200)?.body
      assert.deepEqual((await read(api, payment)).state, won.state)
      const expected =
        won.state.status === 'success'
          ? ['card_payment_succeeded', 'card_payment_captured']
          : ['card_payment_failed']
      assert.deepEqual(await messagesOf(api, payment), expected)
    }
  })

  test('a second Confirm of a payment that was submitted changes nothing', async () => {
    const api = await service().newAccount('govuk-pay')
    const payment = await api.createPayment()
    await choose(api, payment, 'success')
    const confirm = () => api.postForm(`${payment._links.next_url.href}/confirm`, {})
    assert.deepEqual(statuses(await Promise.all([confirm(), confirm()])), [200, 303])
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'submitted', 'success'])
  })

  test('an agreement that is cancelled meanwhile stays cancelled, and its payment is declined for good', async t => {
    const { api, beforeWrite } = await interleaving(t, service(), 'govuk-pay')
    const agreement_id = await activeAgreement(api)
    await control(api, 'plans', { hold: true })
    const held = await api.createPayment({ authorisation_mode: 'agreement', agreement_id })
    beforeWrite(() => api.post(`/v1/agreements/${agreement_id}/cancel`))
    const { baseUrl } = service()
    const alone = { ...service(), baseUrls: [baseUrl] }
    const path = `payments/${held.payment_id}/complete`
    const { body } = await ask(alone, api, path, { scenario: 'declined', can_retry: false })
    assert.deepEqual([body.state.code, body.state.can_retry], ['P0010', false])
    assert.equal((await api.get(`/v1/agreements/${agreement_id}`)).body.status, 'cancelled')
  })

  test('a plan declines one of many simultaneous charges for good, and none succeeds after it', async () => {
    const api = await service().newAccount()
    const agreement_id = await activeAgreement(api)
    await control(api, 'plans', { scenario: 'declined', can_retry: false, skip: 2 })
    const fields = { amount: 1, reference: 'R', description: 'D', agreement_id }
    const json = { ...fields, authorisation_mode: 'agreement' }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.post('/v1/payments', json)),
    )
    const ends = answers.map(({ body }) => body.state?.code ?? body.state?.status ?? body.code)
    assert.deepEqual(ends.sort(), ['P0010', ...Array(5).fill('P0102'), 'success', 'success'].sort())
    assert.equal((await api.get(`/v1/agreements/${agreement_id}`)).body.status, 'inactive')
  })

  test('a plan lets one of two simultaneous refunds fail, and no penny is refunded twice', async () => {
    const api = await service().newAccount()
    const { body } = await control(api, 'payments', { scenario: 'success' })
    await control(api, 'plans', { on: 'refundPayment', scenario: 'error' })
    const path = `/v1/payments/${body.payment_id}`
    const refund = () => api.post(`${path}/refunds`, { amount: 1000 })
    const answers = await Promise.all([refund(), refund()])
    assert.deepEqual(statuses(answers), [202, 400])
    await api.advance(5_000)
    const { _embedded } = (await api.get(`${path}/refunds`)).body
    assert.deepEqual(
      _embedded.refunds.map(({ status }: Body) => status),
      ['error'],
    )
    assert.equal((await api.get(path)).body.refund_summary.amount_available, 1450)
  })
})
