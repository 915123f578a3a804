import { setTimeout } from 'node:timers/promises'
import type { Case } from '../../contract/differences.test.ts'
import { briefOf } from '../assertions.ts'
import type { Body, Client } from '../client.ts'
import { choose, paidPayment } from '../journeys.ts'
import { type Answer, startReceiver } from '../receiver.ts'

/** Nothing listens at this port. */
const CALLBACK = 'https://localhost:1/'

const hook = async (api: Client, callback_url = CALLBACK): Promise<Body> =>
  (await api.post('/control/webhooks', { callback_url })).body

/** The bodies of the messages, oldest first. */
const sent = async (api: Client): Promise<Body[]> =>
  (await api.get('/control/messages')).body.results.map(({ raw }: Body) => JSON.parse(raw))

const first = async (api: Client): Promise<Body> =>
  (await api.get('/control/messages')).body.results[0]

const captured = async (api: Client, fields = {}): Promise<Body> => {
  const payment = await paidPayment(api, fields)
  await api.advance(6_000)
  return payment
}

const shortOf = (types: string[]): string => types.join(' ').replaceAll('card_payment_', '')

/** Fields of a card payment. It has the last two once a card was submitted. */
const CARD = ['_links', 'provider_id', 'authorisation_mode', 'card_brand', 'authorisation_summary']

const BY_CONTROL = [true, 1, 0, 'P0102', 204, 'INACTIVE']

/** For each path: the method and signature of each request, and the result of the message. */
async function answersOf(api: Client, onRequest: (answer: Answer) => void, paths: string[]) {
  const receiver = await startReceiver({ plain: true, onRequest })
  const seen = []
  for (const path of paths) {
    const { external_id } = await hook(api, new URL(path, receiver.url).href)
    const before = receiver.requests.length
    await choose(api, await api.createPayment(), 'declined')
    let message: Body
    do {
      await setTimeout(25)
      message = (await api.get(`/control/webhooks/${external_id}/messages`)).body.results[0]
    } while (message.attempts.length === 0)
    await api.delete(`/control/webhooks/${external_id}`)
    const requests = receiver.requests.slice(before)
    const asked = requests.map(({ method, headers, body }) =>
      [method, headers['pay-signature'] && body && 'signed'].filter(Boolean).join(' '),
    )
    const { status, status_code } = message.attempts[0]
    const isRepeated = status === 'SUCCESSFUL' && message.attempts.length > 1
    const earlier = isRepeated ? ` after FAILED ${message.attempts[1].status_code}` : ''
    const first = asked.slice(0, asked.indexOf('GET') + 1 || 1)
    seen.push([path, first.join(', '), requests.length, `${status} ${status_code}${earlier}`])
  }
  await receiver.close()
  return seen
}

export const messages = {
  eventMeanings: {
    async seen(api) {
      const { subscriptions } = await hook(api)
      const wanted = { callback_url: CALLBACK, subscriptions: ['card_payment_expired'] }
      return [shortOf(subscriptions), (await api.post('/control/webhooks', wanted)).status]
    },
    specification: ['succeeded captured refunded failed cancelled settled', 422],
    'govuk-pay': ['started succeeded captured refunded failed expired', 201],
  },
  eventsOfMove: {
    async seen(api) {
      await hook(api)
      const paid = await captured(api)
      const refund = { amount: 1, refund_amount_available: 4650 }
      await api.post(`/v1/payments/${paid.payment_id}/refunds`, refund)
      await api.advance(1_000)
      const capturable = await paidPayment(api, { delayed_capture: true })
      await api.advance(1_000)
      await api.post(`/v1/payments/${capturable.payment_id}/capture`)
      await api.advance(6_000)
      await choose(api, await api.createPayment(), 'declined')
      await api.advance(1_000)
      await api.post(`/v1/payments/${(await api.createPayment()).payment_id}/cancel`)
      await api.advance(1_000)
      await api.createPayment()
      await paidPayment(api, { delayed_capture: true })
      await api.advance(5 * 86_400_000)
      return shortOf((await sent(api)).map(({ event_type }) => event_type))
    },
    specification: 'succeeded captured refunded succeeded captured failed cancelled succeeded',
    'govuk-pay': 'succeeded captured refunded succeeded captured failed failed expired expired',
  },
  messageHead: {
    async seen(api) {
      await hook(api)
      await choose(api, await api.createPayment(), 'declined')
      return (await sent(api)).map(body => [...Object.keys(body).slice(0, 4), body.resource_type])
    },
    specification: [
      ['webhook_message_id', 'api_version', 'created_date', 'resource_id', 'payment'],
    ],
    'govuk-pay': [['webhook_message_id', 'created_date', 'resource_id', 'api_version', 'PAYMENT']],
  },
  messageResource: {
    async seen(api) {
      await hook(api)
      await captured(api)
      await choose(api, await api.createPayment(), 'declined')
      await api.advance(1_000)
      await api.post(`/v1/payments/${(await api.createPayment()).payment_id}/cancel`)
      return (await sent(api)).map(({ resource }) => [
        resource.state.status,
        resource.state.code,
        resource.refund_summary.status,
        Object.keys(resource.settlement_summary).length,
        CARD.filter(name => name in resource).join(' '),
        resource.card_details && Object.keys(resource.card_details).length,
      ])
    },
    specification: [
      ...Array(2).fill(['success', undefined, 'available', 2, CARD.join(' '), 7]),
      ['failed', 'P0010', 'unavailable', 0, CARD.join(' '), 7],
      ['cancelled', 'P0040', 'unavailable', 0, CARD.slice(0, 3).join(' '), undefined],
    ],
    'govuk-pay': [
      ['success', undefined, 'pending', 0, 'authorisation_summary', 7],
      ['success', undefined, 'available', 2, 'authorisation_summary', 7],
      ['declined', 'P0010', 'unavailable', 0, 'authorisation_summary', 7],
      ['cancelled', 'P0030', 'unavailable', 0, '', undefined],
    ],
  },
  attempts: {
    async seen(api) {
      await hook(api)
      const { body: clock } = await api.post('/control/clock', { freeze: true })
      await choose(api, await api.createPayment(), 'declined')
      const answered = (await first(api)).attempts.length
      while ((await first(api)).attempts.length === 0) await setTimeout(25)
      const times = []
      for (;;) {
        const { delivery, attempts, next_attempt } = await first(api)
        if (next_attempt === null) {
          const at = attempts.map(({ created_date }: Body) => Date.parse(created_date)).toReversed()
          return [answered, delivery, at.map((each: number) => each - at[0]), times]
        }
        times.push((Date.parse(next_attempt) - Date.parse(clock.now)) / 1000)
        // Each attempt is made at its time, even if the clock moves beyond it.
        await api.post('/control/clock', { freeze: next_attempt })
      }
    },
    specification: [2, 'FAILED', [0, 0], []],
    'govuk-pay': [
      0,
      'FAILED',
      [0, 60_000, 360_000, 3_960_000, 90_360_000, 263_160_000],
      [60, 360, 3_960, 90_360, 263_160],
    ],
  },
  following: {
    async seen(api) {
      const redirected = await answersOf(
        api,
        ({ request, response }) => {
          const [, status, next] = /^\/(\d+)-(.*)$/.exec(request.path) ?? []
          response.writeHead(Number(status ?? 200), status ? { location: `/${next}` } : {}).end()
        },
        ['/302-a', '/307-302-a', '/308-301-307-302-a', '/301-302-303-301-302-303-a'],
      )
      const onRequest = ({ response, nth }: Answer) => {
        response.writeHead(nth === 1 ? 503 : 200).end()
      }
      return [...redirected, ...(await answersOf(api, onRequest, ['/']))]
    },
    specification: [
      ['/302-a', 'POST signed', 2, 'FAILED 302'],
      ['/307-302-a', 'POST signed', 2, 'FAILED 307'],
      ['/308-301-307-302-a', 'POST signed', 2, 'FAILED 308'],
      ['/301-302-303-301-302-303-a', 'POST signed', 2, 'FAILED 301'],
      ['/', 'POST signed', 2, 'SUCCESSFUL 200 after FAILED 503'],
    ],
    'govuk-pay': [
      ['/302-a', 'POST signed, GET', 2, 'SUCCESSFUL 200'],
      ['/307-302-a', 'POST signed, POST signed, GET', 3, 'SUCCESSFUL 200'],
      ['/308-301-307-302-a', 'POST signed, POST signed, GET', 5, 'SUCCESSFUL 200'],
      ['/301-302-303-301-302-303-a', 'POST signed, GET', 6, 'FAILED 303'],
      ['/', 'POST signed', 2, 'SUCCESSFUL 200'],
    ],
  },
  webhooksBelowV1: {
    async seen(api) {
      const { external_id, signing_key } = await hook(api)
      const path = `webhooks/${external_id}`
      const below = [
        briefOf(await api.get('/v1/webhooks')),
        briefOf(await api.post('/v1/webhooks', {})),
        briefOf(await api.get(`/v1/${path}/messages`)),
        briefOf(await api.request('PUT', `/v1/${path}`)),
      ]
      const own = `/control/${path}`
      const byControl = [
        (await api.get(own)).body.signing_key === signing_key,
        (await api.get('/control/webhooks')).body.total,
        (await api.get(`${own}/messages`)).body.total,
        (await api.post('/control/webhooks', { callback_url: 'http://10.0.0.1/' })).body.code,
        (await api.delete(own)).status,
        (await api.get(own)).body.status,
      ]
      return [below, byControl]
    },
    specification: [['200', '422 P0101 callback_url', '200', '405 P0912'], BY_CONTROL],
    'govuk-pay': [Array(4).fill('404 404'), BY_CONTROL],
  },
} satisfies Record<string, Case>
