/** The number of fails beside *Check* in the navigation. */
import type { Account } from '../../../core/account.ts'
import type { Database } from '../../../core/ports.ts'
import { remember } from '../../../core/remember.ts'
import type { ToolContext } from '../../context.ts'
import { checkAccount } from '../../explain/check/report.ts'
import { findExchanges } from '../../record/store.ts'

type Counted = {
  newest: string | undefined
  fails: number
  at: number
  kept: number
  /** It is being counted anew. */
  isOverdue?: boolean
}

/** A check of more exchanges takes 30 ms and more, so it is not repeated for each page, and pages seldom wait for it. */
const MANY = 1_000
/** Milliseconds until a number is counted anew, and until pages wait for that. */
const VALID = 10_000
const TOO_OLD = 60_000
const MOST_ROOMS = 1_000

/** Of each service. */
const counts = new WeakMap<Database, Map<string, Counted>>()

/**
 * Counts anew when something was recorded since. Where many exchanges are kept, the number is ten seconds old, or up to
 * a minute if nobody looked meanwhile. What the page itself shows never is.
 */
export async function countFails(context: ToolContext, account: Account): Promise<number> {
  const { database, recorder, time } = context
  if (!recorder) return 0
  const last = counts.get(database)?.get(account.room)
  const age = last ? time.wall() - last.at : TOO_OLD
  if (last && last.kept > MANY && age < TOO_OLD) {
    if (age >= VALID) countBeside(context, account, last)
    return last.fails
  }
  const newest = await newestOf(database, account)
  return last && age < VALID && last.newest === newest
    ? last.fails
    : count(context, account, newest)
}

/** A count that fails is repeated, and after a minute a page waits for it and shows its error. */
function countBeside(context: ToolContext, account: Account, last: Counted): void {
  if (last.isOverdue) return
  last.isOverdue = true
  void newestOf(context.database, account)
    .then(newest => count(context, account, newest))
    .catch(() => {
      last.isOverdue = false
    })
}

/** `newest` is the newest exchange before the count. */
async function count(
  context: ToolContext,
  account: Account,
  newest: Counted['newest'],
): Promise<number> {
  const { database, time } = context
  const at = time.wall()
  const { findings, kept } = await checkAccount(context, account)
  const fails = findings.filter(({ level }) => level === 'fail').length
  const ofService = counts.get(database) ?? new Map<string, Counted>()
  counts.set(database, ofService)
  remember(ofService, account.room, { newest, fails, at, kept }, MOST_ROOMS)
  return fails
}

async function newestOf(database: Database, { room }: Account): Promise<string | undefined> {
  const [row] = await findExchanges(database, room, {}, { limit: 1, order: 'newest' })
  return row?.exchange_id
}
