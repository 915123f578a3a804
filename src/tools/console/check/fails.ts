/** The number of fails beside *Check* in the navigation. */
import type { Account } from '../../../core/account.ts'
import type { Database } from '../../../core/ports.ts'
import { remember } from '../../../core/remember.ts'
import type { Context } from '../../../pay/context.ts'
import { checkAccount } from '../../check/report.ts'
import { findExchanges } from '../../recorder/store.ts'

type Counted = { newest: string | undefined; fails: number; at: number; kept: number }

/** A check of more exchanges takes some 30 ms, so it is not repeated for each page. */
const MANY = 1_000
/** Milliseconds. */
const VALID = 10_000
const MOST_ROOMS = 1_000

/** Of each service. */
const counts = new WeakMap<Database, Map<string, Counted>>()

/**
 * Counts anew when something was recorded since. Where many exchanges are kept, the number may be ten seconds old. What
 * the page itself shows never is.
 */
export async function countFails(context: Context, account: Account): Promise<number> {
  const { database, recorder, time } = context
  if (!recorder) return 0
  const { room } = account
  const ofService = counts.get(database) ?? new Map<string, Counted>()
  counts.set(database, ofService)
  const last = ofService.get(room)
  const now = time.wall()
  const isYoung = last !== undefined && now - last.at < VALID
  if (isYoung && last.kept > MANY) return last.fails
  const [row] = await findExchanges(database, room, {}, { limit: 1, order: 'newest' })
  if (isYoung && row?.exchange_id === last.newest) return last.fails
  const { findings, kept } = await checkAccount(context, account)
  const fails = findings.filter(({ level }) => level === 'fail').length
  const counted = { newest: row?.exchange_id, fails, at: now, kept }
  remember(ofService, room, counted, MOST_ROOMS)
  return fails
}
