import { type Account, isAccountName, newAccount } from '../accounts/account.ts'
import {
  createTestAccount,
  findTestAccount,
  hasAllTestAccounts,
  leaveRoom,
  MOST_TEST_ACCOUNTS,
  testAccountsOf,
} from '../accounts/store.ts'
import type { Context } from '../context.ts'
import { pathParam } from '../http/endpoint.ts'
import type { Secrets } from '../ports.ts'
import { untilWritten } from '../retry.ts'
import { iso } from '../time.ts'
import { readBody } from './body.ts'
import { presentClock, readFirstClock } from './clock.ts'
import type { ControlEndpoint } from './docs.ts'
import { badField, conflict, notFound, tooMany, wrongKey } from './errors.ts'
import { readQuery } from './query.ts'
import { untilSent } from './reset.ts'

const MOST_LISTED = 500
const NAME_RULE =
  'must be 1 to 64 letters, digits, spaces, dots, hyphens or underscores, and begin with a letter or a digit'

/** Test accounts: made, listed and ended with the keys of their parent. */
export const accountEndpoints = (context: Context): ControlEndpoint[] => [
  createAccount(context),
  listAccounts(context),
  endAccount(context),
]

const createAccount = (context: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/accounts',
  operationId: 'createAccount',
  summary: 'Make a test account with a key of its own',
  accepts: 'json',
  handler: async (request, reply) => {
    const { database, time } = context
    const parent = nameOfParent(request.account)
    const given = readBody(request, ['name', 'at', 'frozen'])
    const account: Account = {
      ...newAccount(readName(given.name, parent, context.secrets)),
      ...readFirstClock(given, time.wall()),
      parent,
    }
    if (await hasAllTestAccounts(database, parent, time.wall()))
      throw tooMany(`an account has at most ${MOST_TEST_ACCOUNTS} test accounts: end some`)
    const made = await createTestAccount(context, account)
    if (!made) throw conflict(`the name ${account.name} was used within the last 8 days`)
    void reply.code(201)
    return {
      account: account.name,
      key: made.key,
      clock: presentClock(account, time),
      expires: iso(made.expires),
    }
  },
})

/** The account itself: test accounts have no test accounts. */
function nameOfParent({ name, parent }: Account): string {
  if (parent === null) return name
  throw wrongKey(name, parent)
}

function readName(given: unknown, parent: string, secrets: Secrets): string {
  if (given === undefined) return `${parent.slice(0, 55)}.${secrets.secret(parent).slice(-8)}`
  if (typeof given === 'string' && isAccountName(given)) return given
  throw badField('name', NAME_RULE)
}

const listAccounts = ({ database, time }: Context): ControlEndpoint => ({
  method: 'GET',
  path: '/control/accounts',
  operationId: 'listAccounts',
  summary: 'List the test accounts of the account',
  handler: async request => {
    readQuery(request, {})
    const parent = nameOfParent(request.account)
    const found = await testAccountsOf(database, parent, time.wall(), MOST_LISTED)
    const results = found.map(({ expires, ...account }) => ({
      account: account.name,
      clock: presentClock(account, time),
      expires: iso(expires),
    }))
    return { results }
  },
})

/** Ends a test account. When this resolves, its keys and links no longer work, and no delivery is under way. */
const endAccount = ({ database, time }: Context): ControlEndpoint => ({
  method: 'DELETE',
  path: '/control/accounts/{account}',
  operationId: 'endAccount',
  summary: 'End a test account',
  handler: async (request, reply) => {
    const parent = nameOfParent(request.account)
    const left = await untilWritten(async () => {
      const found = await findTestAccount(database, parent, pathParam(request, 'account'))
      if (!found) throw notFound('test account')
      const { clock_offset, frozen_at, room, ended } = found
      if (ended === 1) return { room }
      const next = { clock_offset, frozen_at, ended: 1 as const }
      return (await leaveRoom(database, found, next, time.wall())) && { room }
    })
    await untilSent({ database, time }, left.room)
    return reply.code(204).send()
  },
})
