import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOfMove } from '../../../src/pay/differences/messages.ts'
import { cancelAgreement, payByAgreement } from '../../support/agreements.ts'
import { briefOf } from '../../support/assertions.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { ask, asking, assertRefused, made } from '../../support/control.ts'
import { authorise, choose, paidPayment, read, statusesOf } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { interleaving } from '../../support/watched.ts'

/** How payments of each mode end here. test/testing/seed.test.ts compares the other ways of web mode with its pages. */
const waysOf = {
  web: ['build'],
  moto_api: ['plan', 'complete', 'build'],
  agreement: ['plan', 'build'],
} as const
type Mode = keyof typeof waysOf
type Way = (typeof waysOf)[Mode][number]

const ends: Record<string, [status: string, code?: string, message?: string]> = {
  declined: ['failed', 'P0010', 'Payment method rejected'],
  error: ['error', 'P0050', 'Payment provider returned an error'],
  cancel: ['failed', 'P0030', 'Payment was cancelled by the user'],
}

function expectedEnd(mode: Mode, scenario: string, delayed: boolean) {
  const [status, code, message] = ends[scenario] ?? [delayed ? 'capturable' : 'success']
  const between = code ? ['started'] : ['started', 'submitted']
  const canRetry = mode === 'agreement' && code === 'P0010'
  return {
    state: {
      status,
      finished: status !== 'capturable',
      ...(code && { code, message }),
      ...(canRetry && { can_retry: true }),
    },
    statuses: ['created', ...between, status],
    messages: eventsOfMove.specification({ from: 'started', to: status, code }),
    links: ['self', 'events', 'refunds', ...(status === 'capturable' ? ['cancel', 'capture'] : [])],
  }
}

const typeOf = ({ event_type }: Body): string => event_type

onSharedDatabases('Scenarios', { control: true }, service => {
  const control = asking(service)
  const complete = (api: Client, { payment_id }: Body, body: object) =>
    control(api, `payments/${payment_id}/complete`, body)
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()
  const messagesOf = async (api: Client, { payment_id }: Body): Promise<Body[]> =>
    (await control(api, `messages?payment_id=${payment_id}`)).body.results

  async function endBy(way: Way, api: Client, end: object, fields: Body): Promise<Body> {
    if (way === 'build') return made(control(api, 'payments', { ...fields, ...end }))
    if (way === 'plan') await made(control(api, 'plans', end))
    const payment = await api.createPayment(fields)
    if (way === 'complete') return made(complete(api, payment, end))
    // The document does not describe the 500 of a plan.
    const unchecked = createClient(service().baseUrls, api.key, 'unchecked')
    if (fields.authorisation_mode === 'moto_api') await authorise(unchecked, payment)
    return payment
  }

  for (const mode of Object.keys(waysOf) as Mode[])
    test(`a payment in ${mode} mode ends in each of its scenarios, by each way, with its events, messages and links`, async () => {
      const api = await service().newAccount()
      await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
      const agreement = { agreement_id: await activeAgreement(api) }
      const fields = { authorisation_mode: mode, ...(mode === 'agreement' && agreement) }
      // Both databases share the code that ends a payment, so one end by each way is enough on the second.
      const all = ['success', 'declined', 'error', ...(mode === 'web' ? ['cancel'] : [])]
      for (const scenario of service().kind === 'sqlite' ? all : all.slice(0, 1))
        for (const way of waysOf[mode])
          for (const delayed_capture of scenario === 'success' ? [false, true] : [false]) {
            const ended = await endBy(way, api, { scenario }, { ...fields, delayed_capture })
            const payment = await read(api, ended)
            const messages = await messagesOf(api, payment)
            const found = {
              state: payment.state,
              statuses: await statusesOf(api, payment),
              messages: messages.map(typeOf),
              links: Object.keys(payment._links),
            }
            const what = `${scenario} ${way} ${delayed_capture}`
            assert.deepEqual(found, expectedEnd(mode, scenario, delayed_capture), what)
            for (const { raw } of messages)
              assert.deepEqual(JSON.parse(raw).resource.state, payment.state)
          }
      const { body } = await api.get(`/v1/agreements/${agreement.agreement_id}`)
      assert.equal(body.status, 'active')
    })

  test('a decline that may not be tried again makes the agreement inactive in the same write, and another card makes it active', async () => {
    const api = await service().newAccount()
    const declined = { scenario: 'declined', can_retry: false }
    for (const way of ['plan', 'build'] as const) {
      const agreement_id = await activeAgreement(api)
      const fields = { authorisation_mode: 'agreement', agreement_id }
      const payment = await endBy(way, api, declined, fields)
      const { state } = await read(api, payment)
      assert.deepEqual([state.code, state.can_retry], ['P0010', false], way)
      const { body } = await api.get(`/v1/payments/${payment.payment_id}/events`)
      assert.equal('can_retry' in body.events.at(-1).state, false)
      const status = async () => (await api.get(`/v1/agreements/${agreement_id}`)).body.status
      assert.equal(await status(), 'inactive')
      const next = await payByAgreement(api, { agreement_id })
      assert.match(briefOf(next), /^400 P0102\b/)
      assert.match(next.body.description, /Agreement must be active$/)
      const found = await api.get('/v1/agreements?status=inactive')
      assert.equal(found.body.results[0].agreement_id, agreement_id)
      assert.equal(briefOf(await cancelAgreement(api, { agreement_id })), '400 P2501')
      await paidPayment(api, { set_up_agreement: agreement_id })
      assert.equal(await status(), 'active')
    }
  })

  test('an account that behaves as the specification has no scenario for states that it never shows', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment()
    const left = [{ scenario: 'success', confirm: false }, 'confirm'] as const
    for (const [path, ...bodies] of [
      ['plans', left, [{ hold: true }, 'hold'], [{ capture: 'held' }, 'capture']],
      ['payments', left, [{ scenario: 'success', capture: 'error' }, 'capture']],
      [`payments/${payment_id}/complete`, left, [{ capture: true }, 'capture']],
    ] as const)
      await assertRefused(service(), api, path, bodies)
  })

  test('a plan leaves a payment alone that cannot end in its scenario, and says why', async () => {
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
    const found = results.map(({ seen, acted, note }: Body) => `${seen} ${acted} ${note}`)
    assert.deepEqual(found, [
      '2 0 it did not act on monthly: scenario must be one of success, declined, error for a payment with authorisation_mode agreement',
      '2 1 it did not act on moto: can_retry needs authorisation_mode agreement',
      '0 0 undefined',
    ])
    const { href } = (await api.createPayment({ reference: 'web' }))._links.next_url
    assert.equal((await api.get(href)).status, 200)
    const [first] = (await control(api, 'plans')).body.results
    assert.deepEqual([first.seen, first.acted], [3, 1])
  })

  test('only one of two simultaneous completions of a payment wins, and only its messages are sent', async () => {
    const api = await service().newAccount()
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    for (const [one, other] of [
      ['success', 'declined'],
      ['cancel', 'error'],
      ['success', 'success'],
    ]) {
      const payment = await api.createPayment()
      const completions = [one, other].map(scenario => complete(api, payment, { scenario }))
      const answers = await Promise.all(completions)
      assert.deepEqual(statuses(answers), [200, 409])
      const won = answers.find(({ status }) => status === 200)?.body
      assert.deepEqual((await read(api, payment)).state, won.state)
      const paid = ['card_payment_succeeded', 'card_payment_captured']
      const expected = won.state.status === 'success' ? paid : ['card_payment_failed']
      assert.deepEqual((await messagesOf(api, payment)).map(typeOf), expected)
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
    beforeWrite(() => cancelAgreement(api, { agreement_id }))
    const alone = { ...service(), baseUrls: [service().baseUrl] }
    const path = `payments/${held.payment_id}/complete`
    const { body } = await ask(alone, api, path, { scenario: 'declined', can_retry: false })
    assert.deepEqual([body.state.code, body.state.can_retry], ['P0010', false])
    assert.equal((await api.get(`/v1/agreements/${agreement_id}`)).body.status, 'cancelled')
  })

  test('a plan declines one of many simultaneous charges for good, and none succeeds after it', async () => {
    const api = await service().newAccount()
    const agreement_id = await activeAgreement(api)
    await control(api, 'plans', { scenario: 'declined', can_retry: false, skip: 2 })
    const charges = Array.from({ length: 8 }, () => payByAgreement(api, { agreement_id }))
    const answers = await Promise.all(charges)
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
    assert.deepEqual(statuses(_embedded.refunds), ['error'])
    assert.equal((await api.get(path)).body.refund_summary.amount_available, 1450)
  })
})
