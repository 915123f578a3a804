import { type Account, givenName } from '../../core/account.ts'
import type { Time } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { testAccountsOf } from '../../platform/accounts/store.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import {
  beginning,
  behaviour,
  endAccount as end,
  hasAllAccounts,
  makeAccount,
  nameOfParent,
  nameUsed,
  newAccount,
  resetAccount as reset,
} from '../steer/accounts.ts'
import { badFirstTime } from '../steer/clock.ts'
import { accountEnded, notFound, wrongKey } from '../steer/errors.ts'
import { text } from '../steer/schemas.ts'
import { defineEndpoint } from './endpoint.ts'
import { clock, overview, presentClock, presentOverview } from './overview.ts'
import { MOST_LISTED } from './query.ts'

const expires = { ...timestamp, description: 'When it ends, on the machine’s clock' } as const
const accountWithKey = object('MadeAccount', {
  account: { ...text, description: 'Its name' },
  key: { ...text, description: 'Its API key, shown only now' },
  behaviour: behaviour.schema,
  clock,
  expires,
})
const presentTestAccount = (account: Account, expires: number, time: Time) => ({
  account: givenName(account),
  behaviour: account.behaviour,
  clock: presentClock(account, time),
  expires: iso(expires),
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

export const createAccount = defineEndpoint({
  route: 'POST /control/accounts',
  operationId: 'createAccount',
  summary: 'Make a test account with a key of its own',
  body: newAccount,
  description:
    'Every field is optional, and so is the body. The account ends after 7 days of machine time.',
  response: [201, 'The account', accountWithKey],
  errors: () => [parentOnly(), badFirstTime(), nameUsed('checkout'), hasAllAccounts()],
  handler: async (context, { account, body }) => {
    const { account: created, key, expires } = await makeAccount(context, account, body)
    const { account: name, ...shown } = presentTestAccount(created, expires, context.time)
    return { account: name, key, ...shown }
  },
})

export const listAccounts = defineEndpoint({
  route: 'GET /control/accounts',
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
    return { results: found.map(account => presentTestAccount(account, account.expires, time)) }
  },
})

export const endAccount = defineEndpoint({
  route: 'DELETE /control/accounts/{account}',
  operationId: 'endAccount',
  summary: 'End a test account',
  description: 'Its keys stop at once and its links are unknown. To end it twice is no error.',
  inPath: 'A test account of the account',
  response: [204, 'It has ended, and nothing of it is being sent'],
  errors: () => [parentOnly(), notFound('test account')],
  handler: (context, { account, id }) => end(context, account, id),
})

export const resetAccount = defineEndpoint({
  route: 'POST /control/reset',
  operationId: 'resetAccount',
  summary: 'Empty the account',
  body: beginning,
  description:
    'Nothing of the account is left but its keys. A request that began before still finishes, and nobody can see its result.',
  response: [200, 'The empty account', overview],
  errors: () => [badFirstTime(), accountEnded()],
  handler: async (context, { account, body }) =>
    presentOverview(context, await reset(context, account, body)),
})
