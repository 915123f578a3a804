/** Integrations whose requests or receivers would fail in production, and next to them some that would not. */
import assert from 'node:assert/strict'
import { createNewId } from '../../src/core/ids.ts'
import type { Ending } from '../../src/tools/record/exchange.ts'
import { insertExchange } from '../../src/tools/record/store.ts'
import { type Body, sendUnchecked, webPayment } from './client.ts'
import { ask } from './control.ts'
import {
  DAY,
  type Integration,
  integration,
  type Keeper,
  MINUTE,
  payAndRead,
  SECOND,
  times,
} from './integration.ts'
import { authorise } from './journeys.ts'

const plan = async ({ service, api }: Keeper, body: object): Promise<void> => {
  assert.equal((await ask(service, api, 'plans', body)).status, 201)
}

/** A create whose answer may not arrive. */
const tryToCreate = ({ service, api }: Keeper): Promise<unknown> => {
  service.clock.advance(1)
  const url = `${service.baseUrl}/v1/payments`
  return sendUnchecked(url, { key: api.key, method: 'POST', json: webPayment }).catch(() => {})
}

const tryToRefund = (
  { service, api }: Keeper,
  { payment_id }: Body,
  guard: object,
): Promise<unknown> => {
  service.clock.advance(1)
  const url = `${service.baseUrl}/v1/payments/${payment_id}/refunds`
  const json = { amount: 100, ...guard }
  return sendUnchecked(url, { key: api.key, method: 'POST', json }).catch(() => {})
}

/** A paid payment that production has captured by now. */
async function captured({ api }: Keeper): Promise<Body> {
  const payment = await payAndRead(api)
  await api.advance(5 * SECOND)
  return payment
}

/** Requests as they would have been recorded: one each 60 milliseconds, which takes so many. */
async function recordPosts(
  { service, room }: Keeper,
  count: number,
  ms: number,
  operation = 'createPayment',
  ended: Ending = 'sent',
): Promise<void> {
  const newId = createNewId()
  const rows = Array.from({ length: count }, () => {
    service.clock.advance(60)
    const began = service.clock.now()
    return insertExchange({
      room,
      payment_id: null,
      message_id: null,
      kind: 'api',
      operation,
      status: 201,
      refused: false,
      began,
      at: began,
      method: 'POST',
      path: '/v1/payments',
      query: '',
      request_headers: {},
      response_headers: {},
      ms,
      ended,
    })(newId(began))
  })
  await service.database.write(rows)
}

export const requests: Integration[] = [
  integration('sixteen creates in a second', ['P13 note'], keeper => recordPosts(keeper, 16, 150)),
  integration('sixteen captures in a second', ['P13 note'], keeper =>
    recordPosts(keeper, 16, 150, 'capturePayment'),
  ),
  integration('fifteen captures and fifteen creates in two seconds', [], async keeper => {
    await recordPosts(keeper, 15, 150, 'capturePayment')
    await recordPosts(keeper, 15, 150)
  }),
  integration('fifteen creates in a second', [], keeper => recordPosts(keeper, 15, 150)),
  integration('sixteen creates in a second, one after the other', [], keeper =>
    recordPosts(keeper, 16, 50),
  ),
  integration('sixteen creates in two seconds', [], async keeper => {
    await recordPosts(keeper, 8, 150)
    keeper.service.clock.advance(SECOND)
    await recordPosts(keeper, 8, 150)
  }),
  integration('moto and moto_api', ['P14 note', 'P14 note'], async ({ api }) => {
    await authorise(api, await api.createPayment({ authorisation_mode: 'moto_api' }))
    await api.createPayment({ moto: true })
  }),
  integration('a create that is repeated after a reset', ['C5 fail'], async keeper => {
    await plan(keeper, { on: 'createPayment', reset: true, when: 'after' })
    await times(2, () => tryToCreate(keeper))
  }),
  integration(
    'a create that is repeated after an error that a plan put in place of the answer',
    ['C5 fail'],
    async keeper => {
      await plan(keeper, { on: 'createPayment', answer: { status: 503 }, when: 'after' })
      await times(2, () => tryToCreate(keeper))
    },
  ),
  integration(
    'a create that is refused after a reset, and repeated again',
    ['C5 fail'],
    async keeper => {
      await plan(keeper, { on: 'createPayment', reset: true, when: 'after' })
      await tryToCreate(keeper)
      await plan(keeper, { on: 'createPayment', answer: { status: 503 } })
      await times(2, () => tryToCreate(keeper))
    },
  ),
  integration('a create that is refused after a reset', [], async keeper => {
    await plan(keeper, { on: 'createPayment', reset: true, when: 'after' })
    await tryToCreate(keeper)
    await plan(keeper, { on: 'createPayment', answer: { status: 429 } })
    await tryToCreate(keeper)
  }),
  integration('a create that is repeated after a reset before it took effect', [], async keeper => {
    await plan(keeper, { on: 'createPayment', reset: true })
    await times(2, () => tryToCreate(keeper))
  }),
  integration(
    'a create that is repeated after 30 seconds, and one after an answer',
    [],
    async keeper => {
      await plan(keeper, { on: 'createPayment', reset: true, when: 'after' })
      await tryToCreate(keeper)
      await keeper.api.advance(30 * SECOND)
      await times(2, () => tryToCreate(keeper))
    },
  ),
  integration('a reference in return_url', ['C6 warn'], ({ api }) =>
    api.createPayment({ return_url: 'https://shop.example.org/back?ref=PITCH%2D2207' }),
  ),
  integration('the example of the documentation for a wrong return_url', ['C6 warn'], ({ api }) =>
    api.createPayment({
      reference: '12345',
      return_url: 'https://shop.example.org/payment_12345',
    }),
  ),
  integration('a return_url with digits that the record masks', ['C6 warn'], ({ api }) =>
    api.createPayment({
      reference: 'ORDER-1795666324143',
      return_url: 'https://shop.example.org/ORDER-1795666324143',
    }),
  ),
  integration('an email in return_url', ['C6 warn'], ({ api }) =>
    api.createPayment({
      email: 'a@example.org',
      return_url: 'https://shop.example.org/back?who=a%40example.org',
    }),
  ),
  integration('metadata in return_url that differs between payments', ['C6 warn'], ({ api }) =>
    times(2, i =>
      api.createPayment({
        metadata: { member: `member ${i}` },
        return_url: `https://shop.example.org/back?who=member+${i}`,
      }),
    ),
  ),
  integration('the names of two forms in metadata and return_url', [], ({ api }) =>
    times(3, i =>
      api.createPayment({
        metadata: { form: i < 2 ? 'dog-licence' : 'cat-licence' },
        return_url: `https://shop.example.org/${i < 2 ? 'dog-licence' : 'cat-licence'}`,
      }),
    ),
  ),
  integration(
    'metadata in return_url that is the same in all payments, random or a part of a word',
    [],
    ({ api }) =>
      times(2, i =>
        api.createPayment({
          reference: 'line',
          metadata: { channel: 'online', id: `3b241101-e2bb-4255-8caf-4136c566a96${i}` },
          return_url: `https://shop.example.org/online/3b241101-e2bb-4255-8caf-4136c566a96${i}`,
        }),
      ),
  ),
  integration('a refund that is repeated after a reset', ['C11 fail'], async keeper => {
    const payment = await captured(keeper)
    await plan(keeper, { on: 'refundPayment', reset: true, when: 'after' })
    await times(2, () => tryToRefund(keeper, payment, {}))
  }),
  integration(
    'a refund that is repeated after a reset, guarded by refund_amount_available',
    [],
    async keeper => {
      const payment = await captured(keeper)
      await plan(keeper, { on: 'refundPayment', reset: true, when: 'after' })
      const guard = { refund_amount_available: payment.amount }
      await times(2, () => tryToRefund(keeper, payment, guard))
    },
  ),
  integration('a refund without refund_amount_available', ['C11 note'], async keeper =>
    tryToRefund(keeper, await captured(keeper), {}),
  ),
  integration('a payment that waits a day for its capture', ['C7 warn'], async ({ api }) => {
    await payAndRead(api, { delayed_capture: true })
    await api.advance(DAY)
    await payAndRead(api)
  }),
  integration(
    'a payment that a test made and that waits a day for its capture',
    [],
    async ({ service, api }) => {
      const built = { delayed_capture: true, scenario: 'success' }
      const { status, body } = await ask(service, api, 'payments', built)
      assert.deepEqual([status, body.state.status], [201, 'capturable'])
      await api.advance(DAY)
      await payAndRead(api)
    },
  ),
  integration('a payment that waits nearly a day for its capture', [], async ({ api }) => {
    await payAndRead(api, { delayed_capture: true })
    await api.advance(DAY - SECOND)
    await payAndRead(api)
    await api.advance(DAY)
  }),
  integration('a payment that waits for its capture, and none after it', [], async ({ api }) => {
    await payAndRead(api, { delayed_capture: true })
    await payAndRead(api)
    await api.advance(2 * DAY)
  }),
  integration('five equal refusals within ten seconds', ['C8 warn'], ({ api }) =>
    times(5, () => api.post('/v1/payments', { ...webPayment, amount: -1 })),
  ),
  integration(
    'four equal refusals, five in ten seconds, five unlike ones and five of reads',
    [],
    async ({ api }) => {
      await times(4, () => api.post('/v1/payments', { ...webPayment, amount: -1 }))
      await api.advance(MINUTE)
      await times(5, async () => {
        await api.post('/v1/payments', { ...webPayment, amount: -1 })
        await api.advance(2.5 * SECOND)
      })
      await times(5, i => api.post('/v1/payments', { ...webPayment, amount: -1 - i }))
      await times(5, () => api.get(`/v1/payments/${'0'.repeat(26)}`))
    },
  ),
  integration('a 429 that is repeated at once', ['C8 warn'], async keeper => {
    await plan(keeper, { on: 'createPayment', answer: { status: 429 } })
    await times(2, () => tryToCreate(keeper))
  }),
  integration('a 429 that is repeated after two seconds', [], async keeper => {
    await plan(keeper, { on: 'createPayment', answer: { status: 429 } })
    await tryToCreate(keeper)
    keeper.service.clock.advance(2 * SECOND)
    await tryToCreate(keeper)
  }),
  integration('a client that leaves POST /v1/auth before 15 seconds', ['C17 warn'], keeper =>
    recordPosts(keeper, 1, 15 * SECOND - 1, 'authorisePayment', 'gone'),
  ),
  integration('a client that leaves POST /v1/auth after 15 seconds', [], keeper =>
    recordPosts(keeper, 1, 15 * SECOND, 'authorisePayment', 'gone'),
  ),
  integration('the first of two pages', ['C18 note'], async ({ api }) => {
    await times(3, () => api.createPayment())
    await api.get('/v1/payments?display_size=2')
  }),
  integration('both pages, and one search for the newest payment', [], async ({ api }) => {
    await times(3, () => api.createPayment())
    await api.get('/v1/payments?display_size=1')
    await api.get('/v1/payments?display_size=2')
    await api.get('/v1/payments?display_size=2&page=2')
  }),
]
