/** Making, emptying and ending accounts. */
import {
  type Account,
  behaviours,
  DEFAULT_ACCOUNT,
  givenName,
  newTestAccount,
} from '../../core/account.ts'
import { TEST_ACCOUNTS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { changedIn, ended } from '../../core/signal.ts'
import { accountName as name, oneOf } from '../../core/values.ts'
import { isSending } from '../../pay/webhooks/message-store.ts'
import { keepFixedWebhook } from '../../pay/webhooks/store.ts'
import {
  accountOfName,
  createTestAccount,
  findTestAccount,
  hasAllTestAccounts,
  leaveRoom,
} from '../../platform/accounts/store.ts'
import type { ToolContext } from '../context.ts'
import { firstClock, firstClockOf } from './clock.ts'
import { accountEnded, conflict, notFound, tooMany, wrongKey } from './errors.ts'
import { body, type Values } from './fields.ts'

export const behaviour = oneOf(behaviours, {
  description:
    'How it answers where the specification and GOV.UK Pay differ. Without it: as its parent; after a reset as before',
})

export const newAccount = body('NewAccount', { name, behaviour, ...firstClock })
export const beginning = body('Beginning', { behaviour, ...firstClock })

export const nameUsed = (name: string) =>
  conflict(`the name ${name} was used within the last 8 days`)
export const hasAllAccounts = () =>
  tooMany(`an account has at most ${TEST_ACCOUNTS} test accounts: end some`)

/** The name of the account. Throws for a test account, because it has no test accounts. */
export function nameOfParent(account: Account): string {
  const { name, parent } = account
  if (parent === null) return name
  throw wrongKey(givenName(account), parent)
}

/** Makes a test account. `key` is its API key, and `expires` a time of the machine. */
export async function makeAccount(
  context: ToolContext,
  account: Account,
  { name, behaviour = account.behaviour, ...begins }: Values<typeof newAccount.fields.optional>,
) {
  const { database, time, secrets } = context
  const parent = nameOfParent(account)
  const first = firstClockOf(begins, time.wall())
  const draw = () => `${parent.slice(0, 55)}.${secrets.secret(parent).slice(-8)}`
  if (await hasAllTestAccounts(database, parent, time.wall())) throw hasAllAccounts()
  for (;;) {
    const child: Account = { ...newTestAccount(parent, name ?? draw(), behaviour), ...first }
    const created = await createTestAccount(context, child)
    if (created) return { account: child, ...created }
    // A service with a seed draws the same names again when it starts anew on its database.
    if (name !== undefined) throw nameUsed(name)
  }
}

/** Ends a test account. When this resolves, its keys and links no longer work, and no delivery is under way. */
export async function endAccount(context: ToolContext, account: Account, name: string) {
  const { database, time } = context
  const parent = nameOfParent(account)
  const left = await untilWritten(async () => {
    const found = await findTestAccount(database, parent, name)
    if (!found) throw notFound('test account')
    if (found.ended === 1) return found
    const next = { ...found, ended: 1 as const }
    return (await leaveRoom(database, found, next, time.wall())) && found
  })
  await untilSent(context, left.room)
}

/**
 * Gives the account a new, empty room: one small write, however much the old one holds. A request that began before
 * ends in the old room, which nobody reads. Resolves when no message from before is being sent.
 */
export async function resetAccount(
  context: ToolContext,
  { name }: Account,
  { behaviour, ...begins }: Values<typeof beginning.fields.optional>,
): Promise<Account> {
  const { database, time, config } = context
  const { before, after } = await untilWritten(async () => {
    const before = await accountOfName(database, name)
    if (!before) throw accountEnded()
    const next = {
      behaviour: behaviour ?? before.behaviour,
      ...firstClockOf(begins, time.wall()),
    }
    const after = await leaveRoom(database, before, next, time.wall())
    return after && { before, after }
  })
  if (name === DEFAULT_ACCOUNT && config.fixedWebhook)
    await keepFixedWebhook(context, config.fixedWebhook)
  await untilSent(context, before.room)
  return after
}

/** Milliseconds within which every delivery ends, unless its instance has died. */
const LONGEST_DELIVERY = 3_000

/** Ends waiting requests in a room that its account has left. Resolves when no message of the room is being sent. */
async function untilSent({ database, time, signals, watch }: ToolContext, room: string) {
  signals.set(ended(room))
  const ending = AbortSignal.timeout(LONGEST_DELIVERY)
  const leaveWatch = watch.join({ room })
  const look = async () =>
    ending.aborted || !(await isSending(database, room, time.wall())) || undefined
  await signals.untilFound([changedIn(room), ended(room)], ending, look).finally(leaveWatch)
}
