import { givenName } from '../../core/account.ts'
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
import { clock, presentClock } from './clock.ts'
import { defineEndpoint } from './endpoint.ts'
import { overview, presentOverview } from './overview.ts'
import { MOST_LISTED } from './query.ts'

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

export const createAccount = defineEndpoint({
  method: 'POST',
  path: '/control/accounts',
  operationId: 'createAccount',
  summary: 'Make a test account with a key of its own',
  body: newAccount,
  description:
    'Every field is optional, and so is the body. The account ends after 7 days of machine time.',
  response: [201, 'The account', madeAccount],
  errors: () => [parentOnly(), badFirstTime(), nameUsed('checkout'), hasAllAccounts()],
  handler: async (context, { account, body }) => {
    const made = await makeAccount(context, account, body)
    return {
      account: givenName(made.account),
      key: made.key,
      behaviour: made.account.behaviour,
      clock: presentClock(made.account, context.time),
      expires: iso(made.expires),
    }
  },
})

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

export const endAccount = defineEndpoint({
  method: 'DELETE',
  path: '/control/accounts/{account}',
  operationId: 'endAccount',
  summary: 'End a test account',
  description: 'Its keys stop at once and its links are unknown. To end it twice is no error.',
  inPath: 'A test account of the account',
  response: [204, 'It has ended, and nothing of it is being sent'],
  errors: () => [parentOnly(), notFound('test account')],
  handler: (context, { account, id }) => end(context, account, id),
})

export const resetAccount = defineEndpoint({
  method: 'POST',
  path: '/control/reset',
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
