import { setTimeout } from 'node:timers/promises'
import { DEFAULT_ACCOUNT } from '../../core/account.ts'
import { untilWritten } from '../../core/retry.ts'
import { isSending } from '../../pay/webhooks/message-store.ts'
import { keepFixedWebhook } from '../../pay/webhooks/store.ts'
import { accountOfName, leaveRoom } from '../../platform/accounts/store.ts'
import { json } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { badFirstTime, firstClock, readFirstClock } from './clock.ts'
import { defineEndpoint } from './endpoint.ts'
import { accountEnded } from './errors.ts'
import { overview, presentOverview } from './overview.ts'

/** Milliseconds within which every delivery ends, unless its instance has died. */
const LONGEST_DELIVERY = 3_000
const POLL_INTERVAL = 20

const accountStart = object('Beginning', {}, firstClock)

/**
 * Gives the account a new, empty room: one small write, however much the old one holds. A request that began before
 * ends in the old room, which nobody reads. Returns when no message from before is being sent.
 */
export const resetAccount = (context: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/reset',
    operationId: 'resetAccount',
    summary: 'Empty the account',
    body: accountStart,
    docs: () => ({
      description:
        'Nothing of the account is left but its keys. A request that began before still finishes, and nobody can see its result.',
      responses: { 200: json('The empty account', overview) },
      errors: [badFirstTime(), accountEnded()],
    }),
    handler: async (request, { body }) => {
      const { database, time, config } = context
      const { name } = request.account
      const { before, after } = await untilWritten(async () => {
        const before = await accountOfName(database, name)
        if (!before) throw accountEnded()
        const next = readFirstClock(body, time.wall())
        const after = await leaveRoom(database, before, next, time.wall())
        return after && { before, after }
      })
      if (name === DEFAULT_ACCOUNT && config.fixedWebhook)
        await keepFixedWebhook(context, config.fixedWebhook)
      await untilSent(context, before.room)
      return presentOverview(context, after)
    },
  })

/** Resolves when no message of the room is being sent. */
export async function untilSent(
  { database, time }: Pick<ToolContext, 'database' | 'time'>,
  room: string,
): Promise<void> {
  for (let left = LONGEST_DELIVERY; left > 0; left -= POLL_INTERVAL) {
    if (!(await isSending(database, room, time.wall()))) return
    await setTimeout(POLL_INTERVAL)
  }
}
