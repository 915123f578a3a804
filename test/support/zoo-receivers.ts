/** Integrations whose receivers would fail in production, and next to them some that would not. */
import { createNewId } from '../../src/core/ids.ts'
import { NO_REQUEST } from '../../src/tools/record/exchange.ts'
import { insertExchange } from '../../src/tools/record/store.ts'
import type { Body } from './client.ts'
import {
  hook,
  type Integration,
  integration,
  type Keeper,
  MINUTE,
  pay,
  payAndRead,
  SECOND,
  times,
} from './integration.ts'
import type { Service } from './service.ts'
import { leaveGap } from './zoo-outcomes.ts'

type Attempt = number | 'timeout' | 'printed'

/** Attempts as they would have been recorded, a second apart: `ms` of each, `timeout`, or `printed` by `farthing listen`. */
export async function recordAttempts(
  { service, room }: { service: Pick<Service, 'clock' | 'database'>; room: string },
  { external_id: webhook_id }: Body,
  attempts: Attempt[],
  payment_id: string | null = null,
): Promise<void> {
  const newId = createNewId()
  const rows = attempts.map((ms, i) => {
    service.clock.advance(SECOND)
    const began = service.clock.now()
    const isTimeout = ms === 'timeout'
    return insertExchange({
      ...NO_REQUEST,
      room,
      payment_id,
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
      result: isTimeout ? 'timeout' : '200 OK',
      ms: isTimeout ? 2_000 : Number(ms) || 0,
      ...(ms === 'printed' && { facts: { printed: true } }),
      ended: 'sent',
    })(newId(began))
  })
  await service.database.write(rows)
}

/** A request of the application that waited for so long for its answer, as it would have been recorded. */
async function recordCancel(
  { service, room }: Pick<Keeper, 'service' | 'room'>,
  payment_id: string,
  ms: number,
): Promise<void> {
  const began = service.clock.now()
  const cancel = insertExchange({
    ...NO_REQUEST,
    room,
    payment_id,
    message_id: null,
    kind: 'api',
    operation: 'cancelPayment',
    status: 204,
    refused: false,
    began,
    at: began,
    method: 'POST',
    path: `/v1/payments/${payment_id}/cancel`,
    ms,
    ended: 'sent',
  })
  await service.database.write([cancel(createNewId()(began))])
}

/** Milliseconds that make a receiver slow if half of its answers take as long. */
export const SLOW = 1_001

export const receivers: Integration[] = [
  integration(
    'outcomes that farthing listen prints and nobody reads',
    ['C1 fail'],
    async keeper => {
      await times(3, async () => {
        const { payment_id } = await pay(keeper.api)
        await recordAttempts(keeper, { external_id: null }, ['printed'], payment_id)
      })
      await keeper.api.advance(10 * MINUTE)
    },
  ),
  integration('a receiver that redirects', ['W2 fail', 'P15 note'], async keeper => {
    await hook(keeper, 302)
    await times(3, () => payAndRead(keeper.api))
  }),
  integration(
    'a receiver that redirects with the same method',
    ['P15 note', 'W2 note'],
    async keeper => {
      await hook(keeper, 307)
      await times(3, () => payAndRead(keeper.api))
    },
  ),
  integration('a receiver that refuses three messages', ['W3 fail', 'P15 note'], async keeper => {
    await hook(keeper, 500)
    await times(3, () => payAndRead(keeper.api))
  }),
  integration(
    'a receiver that refuses three messages, with a gap in the record after them',
    ['P15 note'],
    async keeper => {
      await hook(keeper, 500)
      await times(3, () => payAndRead(keeper.api))
      await leaveGap(keeper)
    },
  ),
  integration('a receiver that refuses two messages', ['P15 note'], async keeper => {
    await hook(keeper, 500)
    await times(2, () => payAndRead(keeper.api))
  }),
  integration(
    'a receiver that is registered twice',
    ['W4 warn', 'P15 note', 'P15 note'],
    async keeper => {
      const { callback_url } = await hook(keeper)
      await keeper.api.post('/control/webhooks', { callback_url })
    },
  ),
  integration(
    'a receiver that is slow ten times after the first',
    ['W1 warn', 'P15 note'],
    async keeper => recordAttempts(keeper, await hook(keeper), [9, ...Array(10).fill(SLOW)]),
  ),
  integration(
    'a receiver that is slow nine times, and one that takes a second',
    ['P15 note', 'P15 note'],
    async keeper => {
      await recordAttempts(keeper, await hook(keeper), [9, ...Array(9).fill(SLOW)])
      await recordAttempts(keeper, await hook(keeper), [9, ...Array(10).fill(1_000)])
    },
  ),
  integration(
    'a receiver that is late twice and answers in between',
    ['W1 fail', 'P15 note'],
    async keeper => recordAttempts(keeper, await hook(keeper), [9, 'timeout', 9, 'timeout']),
  ),
  integration(
    'a receiver that is late twice, but not in one minute',
    ['P15 note'],
    async keeper => {
      const webhook = await hook(keeper)
      await recordAttempts(keeper, webhook, [9, 'timeout', 9])
      keeper.service.clock.advance(MINUTE)
      await recordAttempts(keeper, webhook, ['timeout'])
    },
  ),
  integration('a receiver that is late once', ['P15 note'], async keeper =>
    recordAttempts(keeper, await hook(keeper), [9, 'timeout', 9, 9]),
  ),
  integration(
    'a server with one worker, whose requests wait for messages to itself',
    ['P15 note', 'W5 note'],
    async keeper => {
      const webhook = await hook(keeper)
      await recordAttempts(keeper, webhook, [9, 9])
      for (const id of ['one', 'two', 'three']) {
        await recordCancel(keeper, id, 4_050)
        await recordAttempts(keeper, webhook, ['timeout', 'timeout'], id)
      }
    },
  ),
  integration(
    'a receiver that is late twice while a request waits for something else',
    ['W1 fail', 'P15 note'],
    async keeper => {
      const webhook = await hook(keeper)
      await recordAttempts(keeper, webhook, [9, 9])
      await recordCancel(keeper, 'one', 2_900)
      await recordAttempts(keeper, webhook, ['timeout', 'timeout'], 'one')
    },
  ),
]
