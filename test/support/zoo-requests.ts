/** Integrations whose requests or receivers would fail in production, and next to them some that would not. */
import assert from 'node:assert/strict'
import { createNewId } from '../../src/core/ids.ts'
import { insertExchange } from '../../src/tools/record/store.ts'
import { activeAgreement, cancelAgreement, createAgreement } from './agreements.ts'
import { type Body, sendUnchecked, webPayment } from './client.ts'
import { ask } from './control.ts'
import {
  agreementPayment,
  DAY,
  hook,
  type Keeper,
  type Kept,
  MINUTE,
  payAndRead,
  SECOND,
  times,
} from './integration.ts'
import { authorise } from './journeys.ts'
import { leaveGap } from './zoo-outcomes.ts'

/** Attempts as they would have been recorded: `ms` and the status of each, or `timeout`. */
async function recordAttempts(
  { service, room }: Keeper,
  { external_id: webhook_id }: Body,
  attempts: (number | 'timeout')[],
): Promise<void> {
  const newId = createNewId()
  const rows = attempts.map((ms, i) => {
    service.clock.advance(SECOND)
    const began = service.clock.now()
    const isTimeout = ms === 'timeout'
    return insertExchange({
      room,
      payment_id: null,
      message_id: `message ${i}`,
      webhook_id,
      kind: 'out',
      operation: 'card_payment_captured',
      status: isTimeout ? null : 200,
      refused: isTimeout,
      began,
      at: began,
      method: 'POST',
      path: 'https://localhost/hook',
      query: '',
      request_headers: {},
      response_headers: {},
      result: isTimeout ? 'timeout' : '200 OK',
      ms: isTimeout ? 2_000 : ms,
      ended: 'sent',
    })(newId(began))
  })
  await service.database.write(rows)
}

const plan = async ({ service, api }: Keeper, body: object): Promise<void> => {
  assert.equal((await ask(service, api, 'plans', body)).status, 201)
}

/** A create whose answer may not arrive. */
const tryToCreate = ({ service, api }: Keeper): Promise<unknown> => {
  service.clock.advance(1)
  const url = `${service.baseUrl}/v1/payments`
  return sendUnchecked(url, { key: api.key, method: 'POST', json: webPayment }).catch(() => {})
}

export const requests: Kept[] = [
  [
    'an agreement that is cancelled before it is active',
    ['P8 warn', 'P14 note'],
    async ({ api }) => {
      assert.equal((await cancelAgreement(api, await createAgreement(api))).status, 204)
    },
  ],
  [
    'an active agreement that is cancelled',
    ['P14 note'],
    async ({ api }) => {
      assert.equal((await cancelAgreement(api, await activeAgreement(api))).status, 204)
    },
  ],
  ['sixteen creates in a second', ['P13 note'], ({ api }) => times(16, () => api.createPayment())],
  ['fifteen creates in a second', [], ({ api }) => times(15, () => api.createPayment())],
  [
    'sixteen creates in two seconds',
    [],
    ({ api }) =>
      times(16, async i => {
        if (i === 8) await api.advance(SECOND)
        await api.createPayment()
      }),
  ],
  [
    'moto and moto_api',
    ['P14 note', 'P14 note'],
    async ({ api }) => {
      await authorise(api, await api.createPayment({ authorisation_mode: 'moto_api' }))
      await api.createPayment({ moto: true })
    },
  ],
  [
    'an agreement payment without a key',
    ['C4 warn', 'P14 note'],
    ({ api }) => agreementPayment(api, {}),
  ],
  [
    'a create that is repeated after a reset',
    ['C5 fail'],
    async keeper => {
      await plan(keeper, { on: 'createPayment', reset: true, when: 'after' })
      await times(2, () => tryToCreate(keeper))
    },
  ],
  [
    'a create that is repeated after an error that a plan put in place of the answer',
    ['C5 fail'],
    async keeper => {
      await plan(keeper, { on: 'createPayment', answer: { status: 503 }, when: 'after' })
      await times(2, () => tryToCreate(keeper))
    },
  ],
  [
    'a create that is repeated after a reset before it took effect',
    [],
    async keeper => {
      await plan(keeper, { on: 'createPayment', reset: true })
      await times(2, () => tryToCreate(keeper))
    },
  ],
  [
    'a create that is repeated after 30 seconds, and one after an answer',
    [],
    async keeper => {
      await plan(keeper, { on: 'createPayment', reset: true, when: 'after' })
      await tryToCreate(keeper)
      await keeper.api.advance(30 * SECOND)
      await times(2, () => tryToCreate(keeper))
    },
  ],
  [
    'a reference in return_url',
    ['C6 warn'],
    ({ api }) =>
      api.createPayment({ return_url: 'https://shop.example.org/back?ref=PITCH%2D2207' }),
  ],
  [
    'words in return_url, a reference of five characters, and a random identifier',
    [],
    async ({ api }) => {
      const reference = '3b241101-e2bb-4255-8caf-4136c566a962'
      await api.createPayment({ reference, return_url: `https://shop.example.org/${reference}` })
      await api.createPayment({
        reference: 'A-123',
        metadata: { channel: 'online' },
        return_url: 'https://shop.example.org/online/A-123',
      })
    },
  ],
  [
    'a payment that waits a day for its capture',
    ['C7 warn'],
    async ({ api }) => {
      await payAndRead(api, { delayed_capture: true })
      await api.advance(DAY)
      await payAndRead(api)
    },
  ],
  [
    'a payment that a test made and that waits a day for its capture',
    [],
    async ({ service, api }) => {
      const built = { delayed_capture: true, scenario: 'success' }
      const { status, body } = await ask(service, api, 'payments', built)
      assert.deepEqual([status, body.state.status], [201, 'capturable'])
      await api.advance(DAY)
      await payAndRead(api)
    },
  ],
  [
    'a payment that waits nearly a day for its capture',
    [],
    async ({ api }) => {
      await payAndRead(api, { delayed_capture: true })
      await api.advance(DAY - SECOND)
      await payAndRead(api)
      await api.advance(DAY)
    },
  ],
  [
    'a payment that waits for its capture, and none after it',
    [],
    async ({ api }) => {
      await payAndRead(api, { delayed_capture: true })
      await payAndRead(api)
      await api.advance(2 * DAY)
    },
  ],
  [
    'five equal refusals',
    ['C8 warn'],
    ({ api }) => times(5, () => api.post('/v1/payments', { ...webPayment, amount: -1 })),
  ],
  [
    'refusals of unlike requests with one code and field',
    [],
    async ({ api }) => {
      await times(5, i => api.get(`/v1/payments/${'0'.repeat(25)}${i}`))
      await times(5, i => api.post('/v1/payments', { ...webPayment, metadata: { [`${i}`]: {} } }))
    },
  ],
  [
    'refusals with a success between, and unlike ones',
    [],
    async ({ api }) => {
      await times(5, i => api.post('/v1/payments', { ...webPayment, amount: -1 - i }))
      await times(8, async i => {
        if (i === 4) await api.createPayment()
        await api.post('/v1/payments', { ...webPayment, amount: 'x' })
      })
    },
  ],
]

const SLOW = 1_001

export const receivers: Kept[] = [
  [
    'a receiver that redirects',
    ['W2 fail', 'P15 note'],
    async keeper => {
      await hook(keeper, 302)
      await times(3, () => payAndRead(keeper.api))
    },
  ],
  [
    'a receiver that refuses three messages',
    ['W3 fail', 'P15 note'],
    async keeper => {
      await hook(keeper, 500)
      await times(3, () => payAndRead(keeper.api))
    },
  ],
  [
    'a receiver that refuses three messages, with a gap in the record after them',
    ['P15 note'],
    async keeper => {
      await hook(keeper, 500)
      await times(3, () => payAndRead(keeper.api))
      await leaveGap(keeper)
    },
  ],
  [
    'a receiver that refuses two messages',
    ['P15 note'],
    async keeper => {
      await hook(keeper, 500)
      await times(2, () => payAndRead(keeper.api))
    },
  ],
  [
    'a receiver that is registered twice',
    ['W4 warn', 'P15 note'],
    async keeper => {
      const { callback_url } = await hook(keeper)
      await keeper.api.post('/v1/webhooks', { callback_url })
    },
  ],
  [
    'a receiver that is slow ten times after the first',
    ['W1 warn', 'P15 note'],
    async keeper => recordAttempts(keeper, await hook(keeper), [9, ...Array(10).fill(SLOW)]),
  ],
  [
    'a receiver that is slow nine times, and one that takes a second',
    ['P15 note'],
    async keeper => {
      await recordAttempts(keeper, await hook(keeper), [9, ...Array(9).fill(SLOW)])
      await recordAttempts(keeper, await hook(keeper), [9, ...Array(10).fill(1_000)])
    },
  ],
  [
    'a receiver that is late twice and answers in between',
    ['W1 fail', 'P15 note'],
    async keeper => recordAttempts(keeper, await hook(keeper), [9, 'timeout', 9, 'timeout']),
  ],
  [
    'a receiver that is late twice, but not in one minute',
    ['P15 note'],
    async keeper => {
      const webhook = await hook(keeper)
      await recordAttempts(keeper, webhook, [9, 'timeout', 9])
      keeper.service.clock.advance(MINUTE)
      await recordAttempts(keeper, webhook, ['timeout'])
    },
  ],
  [
    'a receiver that is late once',
    ['P15 note'],
    async keeper => recordAttempts(keeper, await hook(keeper), [9, 'timeout', 9, 9]),
  ],
]
