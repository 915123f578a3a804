import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { LONGEST_WAIT_MS } from '../../core/budgets.ts'
import { boolean, integer, textUpTo, time } from '../../core/values.ts'
import {
  cursorAt,
  type FollowedPage,
  isCursor,
  isEdge,
  type Paging,
} from '../../platform/database/follow.ts'
import { parameter } from '../../platform/http/query.ts'
import type { Values } from '../steer/fields.ts'
import { nullable } from '../steer/schemas.ts'
import type { Look, Waits } from './wait.ts'

/** An example of the identifier of a payment, a message or an exchange. */
export const ID = '06h3k9v0u2j4m5n6p7q8r9s0t1'

export const anyText = (description: string, example: string) =>
  parameter(textUpTo(Infinity), description, { examples: [example] })

export const flag = (description: string) => parameter(boolean(), description, { examples: [true] })

const TIME = '2026-09-14T08:20:31.000Z'
export const since = (description: string) =>
  parameter(time(TIME), description, { examples: [TIME] })

const edge = (name: string, isValid: (text: string) => boolean, description: string) => ({
  ...anyText(description, ID),
  read: (input: unknown) => (isValid(String(input)) ? String(input) : undefined),
  rule: `the ${name} of an earlier response`,
})

export const MOST_LISTED = 500

export const payment_id = anyText('Only results of this payment', ID)
export const reference = anyText(
  'Only results of payments with this reference, in any case',
  'PITCH-41',
)
export const wait = parameter(
  integer(0, LONGEST_WAIT_MS),
  'Milliseconds to wait for a first result, if there is none',
)
export const paging = {
  after: edge('next', isCursor, 'What comes after `next` of an earlier response'),
  before: edge('previous', isEdge, 'What comes before `previous` of an earlier response'),
  limit: parameter(integer(1, MOST_LISTED), 'How many results at most'),
  wait,
}

/** The identifiers with which a client asks for the results after and before these. */
export const ends = {
  next: { ...nullable, description: 'For `after`' },
  previous: { ...nullable, description: 'For `before`: the identifier of the first result' },
}

/** A page of a list, for which the request may wait. `read` gets the parameters: which page, and the filter. */
export function followed<Query extends Values<typeof paging> & { since?: number }, Item>(
  { waitFor }: Pick<Waits, 'waitFor'>,
  { request, reply, query }: { request: FastifyRequest; reply: FastifyReply; query: Query },
  read: (
    account: Account,
    part: Paging,
    filter: Omit<Query, keyof typeof paging>,
  ) => Promise<FollowedPage<Item> & Pick<Look, 'isNewer'>>,
): Promise<object> {
  const { wait: ms = 0, after, before, limit = MOST_LISTED, ...filter } = query
  const nothing = { results: [], next: after ?? cursorAt(query.since ?? 0), previous: null }
  return waitFor(request, reply, { ms, nothing }, async account => {
    const { rows, isNewer, ...page } = await read(account, { after, before, limit }, filter)
    return { found: rows.length > 0 ? { results: rows.values(), ...page } : undefined, isNewer }
  })
}
