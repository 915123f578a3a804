import { setTimeout } from 'node:timers/promises'
import { type Account, DEFAULT_ACCOUNT, isAccountName, newAccount } from '../../core/account.ts'
import { TEST_ACCOUNTS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { iso } from '../../core/time.ts'
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
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { badFirstTime, clock, firstClock, presentClock, readFirstClock } from './clock.ts'
import { defineEndpoint } from './endpoint.ts'
import { accountEnded, badField, conflict, notFound, tooMany, wrongKey } from './errors.ts'
import { overview, presentOverview } from './overview.ts'
import { MOST_LISTED } from './query.ts'
import { text } from './schemas.ts'

const NAME_RULE =
  'must be 1 to 64 letters, digits, spaces, dots, hyphens or underscores, and begin with a letter or a digit'

const newTestAccount = object(
  'NewAccount',
  {},
  { name: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$' }, ...firstClock },
)

const expires = { ...timestamp, description: 'When it ends, on the machine’s clock' } as const
const madeAccount = object('MadeAccount', {
  account: { ...text, description: 'Its name' },
  key: { ...text, description: 'Its API key, shown only now' },
  clock,
  expires,
})
const testAccounts = object('TestAccounts', {
  results: {
    type: 'array',
    maxItems: MOST_LISTED,
    description: 'Newest first',
    items: object('TestAccount', { account: text, clock, expires }),
  },
})

const parentOnly = () => wrongKey('tests.06gq1n36', 'tests')
const nameUsed = (name: string) => conflict(`the name ${name} was used within the last 8 days`)
const hasAll = () => tooMany(`an account has at most ${TEST_ACCOUNTS} test accounts: end some`)

export const accountEndpoints = (context: ToolContext): Endpoint[] => [
  createAccount(context),
  listAccounts(context),
  endAccount(context),
]

const createAccount = (context: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/accounts',
    operationId: 'createAccount',
    summary: 'Make a test account with a key of its own',
    body: newTestAccount,
    description:
      'Every field is optional, and so is the body. The account ends after 7 days of machine time.',
    response: [201, 'The account', madeAccount],
    errors: () => [parentOnly(), badFirstTime(), nameUsed('checkout'), hasAll()],
    handler: async (request, { body }) => {
      const { database, time } = context
      const parent = nameOfParent(request.account)
      const first = { ...readFirstClock(body, time.wall()), parent }
      const draw = () => `${parent.slice(0, 55)}.${context.secrets.secret(parent).slice(-8)}`
      const name = body.name === undefined ? undefined : readName(body.name)
      if (await hasAllTestAccounts(database, parent, time.wall())) throw hasAll()
      for (;;) {
        const account: Account = { ...newAccount(name ?? draw()), ...first }
        const made = await createTestAccount(context, account)
        if (made) {
          return {
            account: account.name,
            key: made.key,
            clock: presentClock(account, time),
            expires: iso(made.expires),
          }
        }
        // A service with a seed draws the same names again when it starts anew on its database.
        if (name !== undefined) throw nameUsed(name)
      }
    },
  })

/** The account itself: test accounts have no test accounts. */
function nameOfParent({ name, parent }: Account): string {
  if (parent === null) return name
  throw wrongKey(name, parent)
}

function readName(name: unknown): string {
  if (typeof name === 'string' && isAccountName(name)) return name
  throw badField('name', NAME_RULE)
}

const listAccounts = ({ database, time }: ToolContext) =>
  defineEndpoint({
    method: 'GET',
    path: '/control/accounts',
    operationId: 'listAccounts',
    summary: 'List the test accounts of the account',
    response: [200, 'The test accounts that have not ended', testAccounts],
    errors: () => [parentOnly()],
    handler: async request => {
      const parent = nameOfParent(request.account)
      const found = await testAccountsOf(
        database,
        { parent, now: time.wall() },
        { limit: MOST_LISTED, order: 'newest' },
      )
      const results = found.map(({ expires, ...account }) => ({
        account: account.name,
        clock: presentClock(account, time),
        expires: iso(expires),
      }))
      return { results }
    },
  })

/** Ends a test account. When this resolves, its keys and links no longer work, and no delivery is under way. */
const endAccount = ({ database, time }: ToolContext) =>
  defineEndpoint({
    method: 'DELETE',
    path: '/control/accounts/{account}',
    operationId: 'endAccount',
    summary: 'End a test account',
    description: 'Its keys stop at once and its links are unknown. To end it twice is no error.',
    inPath: 'A test account of the account',
    response: [204, 'It has ended, and nothing of it is being sent'],
    errors: () => [parentOnly(), notFound('test account')],
    handler: async (request, { id }) => {
      const parent = nameOfParent(request.account)
      const left = await untilWritten(async () => {
        const found = await findTestAccount(database, parent, id)
        if (!found) throw notFound('test account')
        const { clock_offset, frozen_at, room, ended } = found
        if (ended === 1) return { room }
        const next = { clock_offset, frozen_at, ended: 1 as const }
        return (await leaveRoom(database, found, next, time.wall())) && { room }
      })
      await untilSent({ database, time }, left.room)
    },
  })

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
    description:
      'Nothing of the account is left but its keys. A request that began before still finishes, and nobody can see its result.',
    response: [200, 'The empty account', overview],
    errors: () => [badFirstTime(), accountEnded()],
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
async function untilSent(
  { database, time }: Pick<ToolContext, 'database' | 'time'>,
  room: string,
): Promise<void> {
  for (let left = LONGEST_DELIVERY; left > 0; left -= POLL_INTERVAL) {
    if (!(await isSending(database, room, time.wall()))) return
    await setTimeout(POLL_INTERVAL)
  }
}
