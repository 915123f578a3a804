import type { Case } from '../../contract/differences.test.ts'
import { activeAgreement, payByAgreement } from '../agreements.ts'
import { briefOf } from '../assertions.ts'
import type { Body, Client } from '../client.ts'
import { authorise, choose, paidPayment, read, statusesOf } from '../journeys.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

const stateOf = async (api: Client, payment: Body): Promise<string> => {
  const { status, code } = (await read(api, payment)).state
  return [status, code].filter(Boolean).join(' ')
}

const post = (api: Client, { payment_id }: Body, path: string, body?: object) =>
  api.post(`/v1/payments/${payment_id}/${path}`, body)

/** A captured payment, also where the capture is due later. */
async function capturedPayment(api: Client, fields = {}): Promise<Body> {
  const payment = await paidPayment(api, fields)
  await api.advance(5_000)
  return payment
}

const eventsOf = async (api: Client, payment: Body): Promise<string> =>
  (await statusesOf(api, payment)).join(' ')

/** refund_summary and settlement_summary of a web payment, of one in moto_api mode, and of one with delayed capture. */
const CAPTURED = Array(3).fill('available 2')
const WAITING = ['pending 0', 'unavailable 0', 'pending 0']

export const states = {
  cardAuthorisedBy: {
    async seen(api) {
      const payment = await api.createPayment()
      const { href } = payment._links.next_url
      await choose(api, payment, 'success')
      const { state, card_details, _links } = await read(api, payment)
      const opened = await api.get(href)
      return [
        [state.status, card_details?.last_digits_card_number],
        ['next_url', 'next_url_post', 'cancel'].every(name => name in _links),
        [opened.status, opened.headers.get('location')?.endsWith('/confirm')],
        briefOf(await choose(api, payment, 'declined')).slice(0, 3),
        await stateOf(api, payment),
      ]
    },
    specification: [['started', undefined], true, [200, undefined], '200', 'failed P0010'],
    'govuk-pay': [['submitted', '4242'], true, [303, true], '303', 'submitted'],
  },
  expiry: {
    async seen(api) {
      const [created, opened, submitted] = await Promise.all(
        Array.from({ length: 3 }, () => api.createPayment()),
      )
      const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
      const capturable = await paidPayment(api, { delayed_capture: true })
      await api.advance(88 * MINUTE)
      await api.get(opened._links.next_url.href)
      await choose(api, submitted, 'success')
      const states = () =>
        Promise.all([created, moto, opened, submitted, capturable].map(each => stateOf(api, each)))
      await api.advance(2 * MINUTE - 1)
      const before = await states()
      await api.advance(1)
      const after90 = await states()
      await api.advance(3 * MINUTE)
      const after93 = await states()
      await api.advance(5 * DAY - 93 * MINUTE - 1)
      const late = await stateOf(api, capturable)
      await api.advance(1)
      return [before, after90, after93, late, await stateOf(api, capturable)]
    },
    specification: [
      ...Array(3).fill(['created', 'created', 'started', 'started', 'capturable']),
      'capturable',
      'capturable',
    ],
    'govuk-pay': [
      ['created', 'created', 'started', 'submitted', 'capturable'],
      ['failed P0020', 'failed P0020', 'started', 'submitted', 'capturable'],
      [...Array(4).fill('failed P0020'), 'capturable'],
      'capturable',
      'failed P0020',
    ],
  },
  chargeDelay: {
    async seen(api) {
      const agreement = await activeAgreement(api)
      const { body } = await payByAgreement(api, agreement)
      const seen = async () => {
        const { state, refund_summary, _links, card_details } = await read(api, body)
        const { results } = (await api.get(`/v1/payments?reference=${body.reference}`)).body
        return [
          state.status,
          results[0].state.status,
          refund_summary.status,
          _links.cancel,
          card_details?.last_digits_card_number,
        ]
      }
      const first = [body.state.status, body.refund_summary.status]
      const soon = await seen()
      const cancelled = briefOf(await post(api, body, 'cancel'))
      await api.advance(2_000)
      return [first, soon, cancelled, await seen(), await statusesOf(api, body)]
    },
    specification: [
      ['success', 'available'],
      ['success', 'success', 'available', undefined, '4242'],
      '400 P0501',
      ['success', 'success', 'available', undefined, '4242'],
      ['created', 'started', 'submitted', 'success'],
    ],
    'govuk-pay': [
      ['created', 'pending'],
      ['started', 'created', 'unavailable', undefined, undefined],
      '400 P0501',
      ['success', 'success', 'unavailable', undefined, '4242'],
      ['created', 'started', 'submitted', 'success'],
    ],
  },
  declineMayBeRetried: {
    async seen(api) {
      const agreement = await activeAgreement(api)
      await api.post('/control/plans', { scenario: 'declined' })
      const { body } = await payByAgreement(api, agreement)
      await api.advance(2_000)
      const { status } = (await api.get(`/v1/agreements/${agreement.agreement_id}`)).body
      return [(await read(api, body)).state.can_retry, status]
    },
    specification: [true, 'active'],
    'govuk-pay': [false, 'inactive'],
  },
  cardStarts: {
    async seen(api) {
      const [paid, declined] = await Promise.all(
        [0, 1].map(() => api.createPayment({ authorisation_mode: 'moto_api' })),
      )
      await authorise(api, paid)
      await authorise(api, declined, { card_number: '4000000000000002' })
      return [await eventsOf(api, paid), await eventsOf(api, declined)]
    },
    specification: ['created started submitted success', 'created started failed'],
    'govuk-pay': ['created submitted success', 'created failed'],
  },
  captureDelay: {
    async seen(api) {
      const web = await paidPayment(api)
      const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
      await authorise(api, moto)
      const delayed = await paidPayment(api, { delayed_capture: true })
      const first = (await read(api, delayed)).refund_summary.status
      await post(api, delayed, 'capture')
      const seen = () =>
        Promise.all(
          [web, moto, delayed].map(async each => {
            const { refund_summary, settlement_summary } = await read(api, each)
            return `${refund_summary.status} ${Object.keys(settlement_summary).length}`
          }),
        )
      const soon = await seen()
      const refunds = await Promise.all(
        [web, moto].map(async each => briefOf(await post(api, each, 'refunds', { amount: 1 }))),
      )
      await api.advance(4_999)
      const last = await seen()
      await api.advance(1)
      return [first, soon, refunds, last, await seen()]
    },
    specification: ['unavailable', CAPTURED, ['202', '202'], CAPTURED, CAPTURED],
    'govuk-pay': ['unavailable', WAITING, ['400 P0603', '400 P0603'], WAITING, CAPTURED],
  },
  secondCapture: {
    async seen(api) {
      const capture = async (payment: Body) => briefOf(await post(api, payment, 'capture'))
      const delayed = await paidPayment(api, { delayed_capture: true })
      const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
      await authorise(api, moto)
      const soon = [await capture(delayed), await capture(delayed), await capture(moto)]
      await api.advance(5_000)
      const later = [await capture(delayed), await capture(moto)]
      return [soon, later, await capture(await api.createPayment())]
    },
    specification: [['204', '409 P1003', '409 P1003'], ['409 P1003', '409 P1003'], '409 P1003'],
    'govuk-pay': [['204', '204', '409 P1003'], ['204', '204'], '409 P1003'],
  },
  eventsOfRefunds: {
    async seen(api) {
      const payment = await capturedPayment(api)
      for (const amount of [100, 100, 200]) {
        await post(api, payment, 'refunds', { amount })
        await api.advance(6_000)
      }
      return eventsOf(api, payment)
    },
    specification: 'created started submitted success',
    'govuk-pay': 'created started submitted success submitted success success submitted success',
  },
  refundMessage: {
    async seen(api) {
      const payment = await capturedPayment(api)
      const seen = async () => {
        const { refund_summary } = await read(api, payment)
        const told = await api.get(`/control/messages?payment_id=${payment.payment_id}`)
        return `${refund_summary.amount_submitted} ${told.body.results.length}`
      }
      await api.post('/control/plans', { refund: 'held' })
      await api.post('/control/webhooks', { callback_url: 'https://localhost:1/' })
      await post(api, payment, 'refunds', { amount: 300 })
      await api.advance(60_000)
      const held = await seen()
      await api.post(`/control/payments/${payment.payment_id}/complete`, { refund: true })
      const ended = await seen()
      await api.post('/control/plans', { on: 'refundPayment', scenario: 'error' })
      await post(api, payment, 'refunds', { amount: 100 })
      await api.advance(6_000)
      return [held, ended, await seen()]
    },
    specification: ['300 1', '300 1', '300 2'],
    'govuk-pay': ['300 0', '300 1', '300 1'],
  },
  keptFor: {
    async seen(api) {
      const payment = await capturedPayment(api)
      const { href } = payment._links.self
      const found = async () => {
        const searched = await api.get('/v1/payments')
        return [(await api.get(href)).status, searched.body.results.length]
      }
      await api.advance(8 * DAY)
      const weekLater = await found()
      await api.advance(172 * DAY)
      const [said] = /last \d+ days/.exec((await api.get(href)).body.description) ?? []
      return [weekLater, await found(), said]
    },
    specification: [[404, 0], [404, 0], 'last 7 days'],
    'govuk-pay': [[200, 1], [404, 0], 'last 180 days'],
  },
} satisfies Record<string, Case>
