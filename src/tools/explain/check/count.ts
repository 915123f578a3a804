/** The number of fails beside *Check* in the navigation. */
import type { Account } from '../../../core/account.ts'
import type { Database } from '../../../core/ports.ts'
import { remember } from '../../../core/remember.ts'
import type { ToolContext } from '../../context.ts'
import { newestId } from '../../record/store.ts'
import { checkAccount, type Report } from './report.ts'

/** `at` is when they were counted, on the account's clock, if that was before the newest request. */
export type Fails = { fails: number; at?: number }

type Counted = { newest: string | undefined; fails: number; kept: number; at: number; wall: number }

/** A check of more exchanges takes 30 ms and more: pages show the last number with its time, and do not wait. */
const MANY = 1_000
/** Milliseconds until a number is counted anew. */
const VALID = 10_000
const MOST_ROOMS = 1_000

/** Of each service. */
const counts = new WeakMap<Database, Map<string, Counted>>()

export async function countFails(context: ToolContext, account: Account): Promise<Fails> {
  const { database, time } = context
  const last = counts.get(database)?.get(account.room)
  const isYoung = last && time.wall() - last.wall < VALID
  if (isYoung && last.newest === (await newestId(database, account.room)))
    return { fails: last.fails }
  if (!last || last.kept <= MANY) return { fails: failsIn(await checkAndCount(context, account)) }
  // A check that fails is repeated by the next page. That of its own page shows the error.
  if (!isYoung) void checkAndCount(context, account).catch(() => undefined)
  return { fails: last.fails, at: last.at }
}

/** The check, whose number of fails other pages show then. */
export async function checkAndCount(context: ToolContext, account: Account): Promise<Report> {
  const { database, time } = context
  const [at, wall] = [time.now(account), time.wall()]
  const newest = await newestId(database, account.room)
  const report = await checkAccount(context, account)
  const ofService = counts.get(database) ?? new Map<string, Counted>()
  counts.set(database, ofService)
  const counted = { newest, fails: failsIn(report), kept: report.kept, at, wall }
  remember(ofService, account.room, counted, MOST_ROOMS)
  return report
}

export const failsIn = ({ findings }: Report): number =>
  findings.filter(({ level }) => level === 'fail').length
