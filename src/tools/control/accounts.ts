import {
  type Account,
  behaviours,
  DEFAULT_ACCOUNT,
  givenName,
  accountName as name,
  newTestAccount,
} from '../../core/account.ts'
import { TEST_ACCOUNTS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { changedIn, ended } from '../../core/signal.ts'
import { iso } from '../../core/time.ts'
import { oneOf } from '../../core/values.ts'
import { isSending } from '../../pay/webhooks/message-store.ts'
import { keepFixedWebhook } from '../../pay/webhooks/store.ts'
import {
  accountOfName,
  createTestAccount,
  findTestAccount,
  hasAllTestAccounts,
  leaveRoom,
  testAccountsOf,
} from '../../platform/accounts/store.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { badFirstTime, clock, firstClock, firstClockOf, presentClock } from './clock.ts'
import { defineEndpoint } from './endpoint.ts'
import { accountEnded, conflict, notFound, tooMany, wrongKey } from './errors.ts'
import { body } from './fields.ts'
import { overview, presentOverview } from './overview.ts'
import { MOST_LISTED } from './query.ts'
import { text } from './schemas.ts'

const behaviour = oneOf(behaviours, {
  description:
    'How it answers where the specification and GOV.UK Pay differ. Without it: as its parent; after a reset as before',
})

const expires = { ...timestamp, description: 'When it ends, on the machine’s clock' } as const
const madeAccount = object('MadeAccount', {
  account: { ...text, description: 'Its name' },
  key: { ...text, description: 'Its API key, shown only now' },
  behaviour: behaviour.schema,
  clock,
  expires,
})
const testAccounts = object('TestAccounts', {
  results: {
    type: 'array',
    maxItems: MOST_LISTED,
    description: 'Newest first',
    items: object('TestAccount', { account: text, behaviour: behaviour.schema, clock, expires }),
  },
})

const parentOnly = () => wrongKey('tests.06gq1n36', 'tests')
const nameUsed = (name: string) => conflict(`the name ${name} was used within the last 8 days`)
const hasAll = () => tooMany(`an account has at most ${TEST_ACCOUNTS} test accounts: end some`)

export const createAccount = defineEndpoint({
  method: 'POST',
  path: '/control/accounts',
  operationId: 'createAccount',
  summary: 'Make a test account with a key of its own',
  body: body('NewAccount', {}, { name, behaviour, ...firstClock }),
  description:
    'Every field is optional, and so is the body. The account ends after 7 days of machine time.',
  response: [201, 'The account', madeAccount],
  errors: () => [parentOnly(), badFirstTime(), nameUsed('checkout'), hasAll()],
  handler: async (
    context,
    { account, body: { name, behaviour = account.behaviour, ...begins } },
  ) => {
    const { database, time, secrets } = context
    const parent = nameOfParent(account)
    const first = firstClockOf(begins, time.wall())
    const draw = () => `${parent.slice(0, 55)}.${secrets.secret(parent).slice(-8)}`
    if (await hasAllTestAccounts(database, parent, time.wall())) throw hasAll()
    for (;;) {
      const account: Account = { ...newTestAccount(parent, name ?? draw(), behaviour), ...first }
      const made = await createTestAccount(context, account)
      if (made) {
        const { key, expires } = made
        return {
          account: givenName(account),
          key,
          behaviour,
          clock: presentClock(account, time),
          expires: iso(expires),
        }
      }
      // A service with a seed draws the same names again when it starts anew on its database.
      if (name !== undefined) throw nameUsed(name)
    }
  },
})

/** The account itself: test accounts have no test accounts. */
function nameOfParent(account: Account): string {
  const { name, parent } = account
  if (parent === null) return name
  throw wrongKey(givenName(account), parent)
}

export const listAccounts = defineEndpoint({
  method: 'GET',
  path: '/control/accounts',
  operationId: 'listAccounts',
  summary: 'List the test accounts of the account',
  response: [200, 'The test accounts that have not ended', testAccounts],
  errors: () => [parentOnly()],
  handler: async ({ database, time }, { account }) => {
    const found = await testAccountsOf(
      database,
      { parent: nameOfParent(account), now: time.wall() },
      { limit: MOST_LISTED, order: 'newest' },
    )
    const results = found.map(({ expires, ...account }) => ({
      account: givenName(account),
      behaviour: account.behaviour,
      clock: presentClock(account, time),
      expires: iso(expires),
    }))
    return { results }
  },
})

/** Ends a test account. When this resolves, its keys and links no longer work, and no delivery is under way. */
export const endAccount = defineEndpoint({
  method: 'DELETE',
  path: '/control/accounts/{account}',
  operationId: 'endAccount',
  summary: 'End a test account',
  description: 'Its keys stop at once and its links are unknown. To end it twice is no error.',
  inPath: 'A test account of the account',
  response: [204, 'It has ended, and nothing of it is being sent'],
  errors: () => [parentOnly(), notFound('test account')],
  handler: async (context, { account, id }) => {
    const { database, time } = context
    const parent = nameOfParent(account)
    const left = await untilWritten(async () => {
      const found = await findTestAccount(database, parent, id)
      if (!found) throw notFound('test account')
      if (found.ended === 1) return found
      const next = { ...found, ended: 1 as const }
      return (await leaveRoom(database, found, next, time.wall())) && found
    })
    await untilSent(context, left.room)
  },
})

/** Milliseconds within which every delivery ends, unless its instance has died. */
const LONGEST_DELIVERY = 3_000

/**
 * Gives the account a new, empty room: one small write, however much the old one holds. A request that began before
 * ends in the old room, which nobody reads. Returns when no message from before is being sent.
 */
export const resetAccount = defineEndpoint({
  method: 'POST',
  path: '/control/reset',
  operationId: 'resetAccount',
  summary: 'Empty the account',
  body: body('Beginning', {}, { behaviour, ...firstClock }),
  description:
    'Nothing of the account is left but its keys. A request that began before still finishes, and nobody can see its result.',
  response: [200, 'The empty account', overview],
  errors: () => [badFirstTime(), accountEnded()],
  handler: async (context, { account: { name }, body: { behaviour, ...begins } }) => {
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
    return presentOverview(context, after)
  },
})

/** Ends what waits in the room that the account has left. Resolves when no message of it is being sent. */
async function untilSent({ database, time, signals, watch }: ToolContext, room: string) {
  signals.set(ended(room))
  const ending = AbortSignal.timeout(LONGEST_DELIVERY)
  const leaveWatch = watch.join({ room })
  const look = async () =>
    ending.aborted || !(await isSending(database, room, time.wall())) || undefined
  await signals.untilFound([changedIn(room), ended(room)], ending, look).finally(leaveWatch)
}
