/** The work that runs beside the requests: sending unsent messages, and deleting old rows. */
import type { Logger } from 'pino'
import type { Ports } from '../core/ports.ts'
import { deleteEndedRooms, emptyRooms, endExpiredAccounts } from '../pay/ended-rooms.ts'
import { sweep } from '../pay/retention.ts'
import { deactivateIdle, deleteLeftOver } from '../tools/deliver/listener-store.ts'
import type { App } from './app.ts'
import { createClockWatch } from './clock-watch.ts'

/** Milliseconds. */
const SWEEP_INTERVAL = 60_000
const RECOVERY_INTERVAL = 5_000
const EMPTY_INTERVAL = 2_000

type Work = Pick<App, 'deliveries' | 'recorder'> &
  Pick<Ports, 'database' | 'time'> & {
    warn: Logger['warn']
    /** The database is in memory: what tests leave behind takes memory until it is deleted. */
    inMemory: boolean
    /** As in ClockWatchPorts. */
    elapsed?: () => number
  }

/**
 * Sends messages that an earlier stop left unsent, now and whenever another instance dies, and deletes old rows. Call
 * the result to end this; its promise resolves when no statement is under way, so that the database can be closed.
 */
export function startWork(work: Work): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const underway = new Set<Promise<void>>()
  const report = (error: unknown) =>
    work.warn({ err: error }, 'background work will be tried again')
  function start(task: Promise<void>): void {
    const done = task.catch(report).finally(() => underway.delete(done))
    underway.add(done)
  }
  const recover = () => start(work.deliveries.recover(signal))
  recover()
  const recovering = setInterval(recover, RECOVERY_INTERVAL)
  const emptyNow = createEmptying(work)
  const emptying = work.inMemory && setInterval(() => start(emptyNow(signal)), EMPTY_INTERVAL)
  const sweepAll = createSweep(work, report)
  let sweeping: NodeJS.Timeout | undefined
  async function sweepNow(): Promise<void> {
    await sweepAll(signal)
    if (!signal.aborted) sweeping = setTimeout(() => start(sweepNow()), SWEEP_INTERVAL)
  }
  start(sweepNow())
  return async () => {
    stopping.abort()
    clearInterval(recovering)
    if (emptying) clearInterval(emptying)
    clearTimeout(sweeping)
    await Promise.all(underway)
  }
}

/**
 * Each call deletes the rows of the rooms that ended since the call before, but not in the last `EMPTY_INTERVAL`. The
 * sweep deletes later what requests that were then under way have written.
 */
function createEmptying({ database, time }: Pick<Work, 'database' | 'time'>) {
  let from = time.wall() - EMPTY_INTERVAL
  return async (stop?: AbortSignal): Promise<void> => {
    const until = time.wall() - EMPTY_INTERVAL
    if (until > from) await emptyRooms(database, [from, until], stop)
    from = until
  }
}

type BackgroundStep = (signal?: AbortSignal) => Promise<void>

/** One sweep of everything. Deletions that depend on the clock wait until the clock can be trusted. Never rejects. */
export function createSweep(
  { database, time, recorder, warn, elapsed }: Omit<Work, 'deliveries' | 'inMemory'>,
  report: (error: unknown) => void,
): (signal?: AbortSignal) => Promise<void> {
  const isClockTrusted = createClockWatch({
    database,
    time,
    warn: line => warn(line),
    ...(elapsed && { elapsed }),
  })
  const byAge: BackgroundStep[] = [
    signal => sweep(database, time.wall(), signal),
    signal => endExpiredAccounts(database, time.wall(), signal),
    async signal => recorder?.sweep(time.wall(), signal),
    () => deactivateIdle(database, time.wall()),
    () => deleteLeftOver(database, time.wall()),
  ]
  const byCount: BackgroundStep[] = [
    signal => deleteEndedRooms(database, time.wall(), signal),
    async signal => recorder?.trim(signal),
  ]

  async function run(steps: BackgroundStep[], signal?: AbortSignal): Promise<void> {
    for (const step of steps) if (!signal?.aborted) await step(signal).catch(report)
  }

  return async signal => {
    const trusted = await isClockTrusted().catch(error => {
      report(error)
      return false
    })
    if (trusted) await run(byAge, signal)
    await run(byCount, signal)
  }
}
