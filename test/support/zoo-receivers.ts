/** Integrations whose receivers would fail in production, and next to them some that would not. */
import { createNewId } from '../../src/core/ids.ts'
import { insertExchange } from '../../src/tools/record/store.ts'
import type { Body } from './client.ts'
import {
  hook,
  type Integration,
  integration,
  MINUTE,
  payAndRead,
  SECOND,
  times,
} from './integration.ts'
import type { Service } from './service.ts'
import { leaveGap } from './zoo-outcomes.ts'

/** Attempts as they would have been recorded: `ms` and the status of each, or `timeout`. */
export async function recordAttempts(
  { service, room }: { service: Pick<Service, 'clock' | 'database'>; room: string },
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

/** Milliseconds that make a receiver slow if half of its answers take as long. */
export const SLOW = 1_001

export const receivers: Integration[] = [
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
]
