import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import { ask, made } from '../../support/control.ts'
import { authorise, choose, payOnPages, read, statusesOf } from '../../support/journeys.ts'
import { activeAgreement, newAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

type Mode = 'web' | 'moto_api' | 'agreement'
type Way = 'plan' | 'complete' | 'build' | 'hold and complete'

/** How a payment of each mode can end, and by which ways. */
const table: Record<Mode, Record<string, Way[]>> = {
  web: {
    success: ['plan', 'complete', 'build', 'hold and complete'],
    declined: ['plan', 'complete', 'build', 'hold and complete'],
    error: ['plan', 'complete', 'build', 'hold and complete'],
    cancel: ['plan', 'complete', 'build'],
    expired: ['complete', 'build', 'hold and complete'],
  },
  moto_api: {
    success: ['plan', 'complete', 'build', 'hold and complete'],
    declined: ['plan', 'complete', 'build', 'hold and complete'],
    error: ['hold and complete'],
    expired: ['complete', 'build', 'hold and complete'],
  },
  agreement: {
    success: ['plan', 'build', 'hold and complete'],
    declined: ['plan', 'build', 'hold and complete'],
    error: ['plan', 'build', 'hold and complete'],
    expired: ['build', 'hold and complete'],
  },
}

const ends: Record<string, [status: string, code?: string, message?: string]> = {
  declined: ['failed', 'P0010', 'Payment method rejected'],
  error: ['error', 'P0050', 'Payment provider returned an error'],
  cancel: ['failed', 'P0030', 'Payment was cancelled by the user'],
  expired: ['failed', 'P0020', 'Payment expired'],
}

function expectedEnd(mode: Mode, way: Way, scenario: string, delayed: boolean) {
  const [status, code, message] = ends[scenario] ?? [delayed ? 'capturable' : 'success']
  const isSubmitted = way === 'hold and complete' && mode !== 'agreement'
  const between = isSubmitted || !code ? ['started', 'submitted'] : ['started']
  const canRetry = mode === 'agreement' && code === 'P0010'
  const paid = ['card_payment_succeeded', ...(delayed ? [] : ['card_payment_captured'])]
  const failed = scenario === 'expired' ? [] : ['card_payment_failed']
  return {
    state: {
      status,
      finished: status !== 'capturable',
      ...(code && { code, message }),
      ...(canRetry && { can_retry: true }),
    },
    statuses: ['created', ...(scenario === 'expired' && !isSubmitted ? [] : between), status],
    messages: code ? failed : paid,
    links: ['self', 'events', 'refunds', ...(status === 'capturable' ? ['cancel', 'capture'] : [])],
  }
}

onSharedDatabases(
  'Scenarios',
  service => {
    const control = (api: Client, path: string, body?: object, method?: string) =>
      ask(service(), api, path, body, method)
    const complete = (api: Client, { payment_id }: Body, body: object) =>
      control(api, `payments/${payment_id}/complete`, body)
    const messagesOf = async (api: Client, { payment_id }: Body): Promise<Body[]> =>
      (await control(api, `messages?payment_id=${payment_id}`)).body.results

    /** What the user of a payment does, who knows nothing of plans. */
    async function pay(api: Client, payment: Body): Promise<Body> {
      if (payment.authorisation_mode === 'moto_api') return authorise(api, payment)
      if (payment.authorisation_mode !== 'web') return undefined
      const { href } = payment._links.next_url
      const first = await api.get(href)
      if (first.status === 303) return first
      if (!first.text.includes('value="declined"')) return first
      await choose(api, payment, 'success')
      return api.postForm(`${href}/confirm`, {})
    }

    async function endBy(way: Way, api: Client, scenario: string, fields: Body): Promise<Body> {
      if (way === 'build') return made(control(api, 'payments', { ...fields, scenario }))
      if (way === 'plan') await made(control(api, 'plans', { scenario }))
      if (way === 'hold and complete') await made(control(api, 'plans', { hold: true }))
      const payment = await api.createPayment(fields)
      if (way !== 'complete') await pay(api, payment)
      if (way === 'plan') return payment
      return made(complete(api, payment, { scenario }))
    }

    for (const mode of Object.keys(table) as Mode[])
      test(`a payment in ${mode} mode ends in each of its scenarios, by each way, with its events, messages and links`, async () => {
        const api = await service().newAccount()
        await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
        const agreement = { agreement_id: await activeAgreement(api) }
        const fields = { authorisation_mode: mode, ...(mode === 'agreement' && agreement) }
        // How a payment ends is decided alike for both databases, so one end by each way is enough on the second.
        const all = Object.entries(table[mode])
        for (const [scenario, ways] of service().kind === 'sqlite' ? all : all.slice(0, 1))
          for (const way of ways)
            for (const delayed_capture of scenario === 'success' ? [false, true] : [false]) {
              const ended = await endBy(way, api, scenario, { ...fields, delayed_capture })
              const payment = await read(api, ended)
              const messages = await messagesOf(api, payment)
              assert.deepEqual(
                {
                  state: payment.state,
                  statuses: await statusesOf(api, payment),
                  messages: messages.map(({ event_type }) => event_type),
                  links: Object.keys(payment._links),
                },
                expectedEnd(mode, way, scenario, delayed_capture),
                `${mode} ${scenario} ${way} ${delayed_capture}`,
              )
              for (const { raw } of messages)
                assert.deepEqual(JSON.parse(raw).resource.state, payment.state)
            }
        const { body } = await api.get(`/v1/agreements/${agreement.agreement_id}`)
        assert.equal(body.status, 'active')
      })

    test('a payment that is held waits in submitted, and its page leads to return_url', async () => {
      const api = await service().newAccount()
      for (const plan of [{ hold: true }, { hold: true, scenario: 'declined' }]) {
        await made(control(api, 'plans', plan))
        const payment = await api.createPayment()
        const last = await pay(api, payment)
        assert.equal(last.status, 303)
        assert.equal(last.headers.get('location'), payment.return_url)
        const { state, card_details, refund_summary, settlement_summary, _links } = await read(
          api,
          payment,
        )
        assert.deepEqual(state, { status: 'submitted', finished: false })
        assert.equal(card_details.last_digits_card_number, '4242')
        assert.equal(refund_summary.status, 'pending')
        assert.deepEqual(settlement_summary, {})
        assert.deepEqual(Object.keys(_links), ['self', 'events', 'refunds'])
        const { href } = payment._links.next_url
        for (const page of [await api.get(href), await api.get(`${href}/confirm`)])
          assert.equal(page.headers.get('location'), payment.return_url)
        assert.equal((await choose(api, payment, 'cancel')).status, 303)
        const cancelled = await api.post(`/v1/payments/${payment.payment_id}/cancel`)
        assert.deepEqual([cancelled.status, cancelled.body.code], [400, 'P0501'])
        const captured = await api.post(`/v1/payments/${payment.payment_id}/capture`)
        assert.deepEqual([captured.status, captured.body.code], [409, 'P1003'])
        const refunded = await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 1 })
        assert.deepEqual([refunded.status, refunded.body.code], [400, 'P0603'])
        assert.equal((await complete(api, payment, { scenario: 'cancel' })).status, 409)
        const found = await api.get('/v1/payments?state=submitted')
        assert.equal(found.body.results[0].payment_id, payment.payment_id)
        const { body } = await complete(api, payment, {})
        assert.equal(body.state.code ?? body.state.status, plan.scenario ? 'P0010' : 'success')
      }
    })

    test('the card of a held moto_api payment is used up, and that of a held set-up payment becomes the agreement’s', async () => {
      const api = await service().newAccount()
      await made(control(api, 'plans', { hold: true, times: 2 }))
      const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
      assert.equal((await authorise(api, moto)).status, 204)
      assert.equal((await authorise(api, moto)).body.code, 'P1212')
      assert.equal((await read(api, moto)).state.status, 'submitted')
      const agreement_id = await newAgreement(api)
      const setUp = await api.createPayment({ set_up_agreement: agreement_id })
      await pay(api, setUp)
      const agreement = async () => (await api.get(`/v1/agreements/${agreement_id}`)).body
      assert.equal((await agreement()).status, 'created')
      await made(complete(api, setUp, {}))
      const { status, payment_instrument } = await agreement()
      assert.deepEqual(
        [status, payment_instrument.CardDetails.last_digits_card_number],
        ['active', '4242'],
      )
    })

    test('a decline that may not be tried again makes the agreement inactive in the same write', async () => {
      const api = await service().newAccount()
      const declined = { scenario: 'declined', can_retry: false }
      for (const way of ['plan', 'build', 'hold', 'complete'] as const) {
        const agreement_id = await activeAgreement(api)
        const fields = { authorisation_mode: 'agreement', agreement_id }
        const given = { authorisation_mode: 'agreement' }
        if (way === 'plan') await made(control(api, 'plans', { ...declined, given }))
        if (way === 'hold') await made(control(api, 'plans', { ...declined, hold: true }))
        if (way === 'complete') await made(control(api, 'plans', { hold: true }))
        const payment =
          way === 'build'
            ? await made(control(api, 'payments', { ...fields, ...declined }))
            : await api.createPayment(fields)
        if (way === 'hold' || way === 'complete') {
          assert.deepEqual(payment.state, { status: 'created', finished: false })
          assert.deepEqual(Object.keys(payment._links), ['self', 'events', 'refunds', 'cancel'])
          await made(complete(api, payment, way === 'hold' ? {} : declined))
        }
        const { state } = await read(api, payment)
        assert.deepEqual([state.code, state.can_retry], ['P0010', false], way)
        const { body: agreement } = await api.get(`/v1/agreements/${agreement_id}`)
        assert.equal(agreement.status, 'inactive')
        assert.ok(agreement.payment_instrument)
        const next = await api.post('/v1/payments', {
          amount: 1,
          reference: 'R',
          description: 'D',
          ...fields,
        })
        assert.deepEqual([next.status, next.body.code], [400, 'P0102'])
        assert.match(next.body.description, /Agreement must be active$/)
        const { body } = await api.get('/v1/agreements?status=inactive')
        assert.equal(body.results[0].agreement_id, agreement_id)
        await payOnPages(api, await api.createPayment({ set_up_agreement: agreement_id }))
        const { body: renewed } = await api.get(`/v1/agreements/${agreement_id}`)
        assert.equal(renewed.status, 'active')
        assert.equal((await api.post(`/v1/agreements/${agreement_id}/cancel`)).status, 204)
      }
    })

    test('a payment that was authorised expires too, and one that has ended does not', async () => {
      const api = await service().newAccount()
      const fields = { delayed_capture: true, scenario: 'success' }
      const capturable = await made(control(api, 'payments', fields))
      const again = await complete(api, capturable, {})
      assert.deepEqual([again.status, again.body.code], [409, 'C0409'])
      const expired = await made(complete(api, capturable, { scenario: 'expired' }))
      assert.deepEqual(expired.state, {
        status: 'failed',
        finished: true,
        code: 'P0020',
        message: 'Payment expired',
      })
      assert.equal(expired.refund_summary.status, 'unavailable')
      assert.equal(expired.fee, undefined)
      assert.equal((await complete(api, expired, { scenario: 'expired' })).status, 409)
      const started = await api.createPayment()
      const { href } = started._links.next_url
      await api.get(href)
      await made(complete(api, started, { scenario: 'expired' }))
      assert.equal((await api.get(href)).headers.get('location'), started.return_url)
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
