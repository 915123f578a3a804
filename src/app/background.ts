/** The work that runs beside the requests: due steps of payments, unsent messages, and the deletion of old rows. */
import type { Logger } from 'pino'
import { BACKGROUND, workFor } from '../core/guests.ts'
import type { Ports } from '../core/ports.ts'
import { oneAtATime } from '../core/remember.ts'
import { DAY, HOUR } from '../core/time.ts'
import { sweep } from '../pay/retention.ts'
import { sweepListeners } from '../tools/deliver/listener-store.ts'
import type { App } from './app.ts'
import { deleteEndedRooms, emptyRooms, endExpiredAccounts } from './ended-rooms-store.ts'

/** Milliseconds. */
const SWEEP_INTERVAL = 60_000
const RECOVERY_INTERVAL = 5_000
const EMPTY_INTERVAL = 2_000
const DUE_INTERVAL = 500

type SweepPorts = Pick<Ports, 'database' | 'time'> &
  Pick<App, 'recorder'> & {
    warn: Logger['warn']
    /** Milliseconds of a monotonic clock. */
    elapsed?: () => number
  }

type Work = SweepPorts &
  Pick<App, 'deliveries' | 'doAllDue'> & {
    /** The database is in memory: rows that tests leave behind take memory until they are deleted. */
    inMemory: boolean
  }

/**
 * Does due steps, sends messages that a stop or a dead instance left, and deletes old rows. The returned function ends
 * this work. Its promise resolves when no statement is under way, so that the database can be closed.
 */
export function startWork(work: Work): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const underway = new Set<Promise<void>>()
  const report = (error: unknown) =>
    work.warn({ err: error }, 'background work will be tried again')
  function start(step: BackgroundStep): void {
    const task = workFor(BACKGROUND, () => step(signal))
    const done = task.catch(report).finally(() => underway.delete(done))
    underway.add(done)
  }
  const whenDone = (step: BackgroundStep) => oneAtATime(() => step(signal).catch(report))
  const every = (ms: number, step: BackgroundStep) => setInterval(() => start(step), ms)
  start(work.deliveries.recover)
  const repeated = [
    every(RECOVERY_INTERVAL, work.deliveries.recover),
    // Each on its own: an account whose payments take minutes delays no messages of others.
    every(DUE_INTERVAL, whenDone(work.doAllDue)),
    every(DUE_INTERVAL, whenDone(work.deliveries.doAllDue)),
    work.inMemory ? every(EMPTY_INTERVAL, createEmptying(work)) : undefined,
  ]
  const sweepAll = createSweep(work, report)
  let sweeping: NodeJS.Timeout | undefined
  async function sweepNow(): Promise<void> {
    await sweepAll(signal)
    if (!signal.aborted) sweeping = setTimeout(() => start(sweepNow), SWEEP_INTERVAL)
  }
  start(sweepNow)
  return async () => {
    stopping.abort()
    for (const timer of repeated) clearInterval(timer)
    clearTimeout(sweeping)
    await Promise.all(underway)
  }
}

/** Each call deletes the rows of rooms that ended since the last call. The sweep deletes rows of late requests. */
function createEmptying({ database, time }: SweepPorts): BackgroundStep {
  let from = time.wall() - EMPTY_INTERVAL
  return async stop => {
    const until = time.wall() - EMPTY_INTERVAL
    if (until > from) await emptyRooms(database, [from, until], stop)
    from = until
  }
}

type BackgroundStep = (signal?: AbortSignal) => Promise<void>

/** One sweep of everything. Deletions that depend on the clock wait until the clock can be trusted. Never rejects. */
export function createSweep(ports: SweepPorts, report: (error: unknown) => void): BackgroundStep {
  const { database, time, recorder } = ports
  const isClockTrusted = createClockWatch(ports)
  const byAge: BackgroundStep[] = [
    signal => sweep(database, time.wall(), signal),
    signal => endExpiredAccounts(database, time.wall(), signal),
    async signal => recorder?.sweep(time.wall(), signal),
    () => sweepListeners(database, time.wall()),
  ]
  const byCount: BackgroundStep[] = [
    signal => deleteEndedRooms(database, time.wall(), signal),
    async signal => recorder?.trim(signal),
  ]

  return async signal => {
    const trusted = await isClockTrusted().catch(error => {
      report(error)
      return false
    })
    for (const step of trusted ? [...byAge, ...byCount] : byCount)
      if (!signal?.aborted) await step(signal).catch(report)
  }
}

/** Milliseconds: the largest difference between two clocks, and the largest jump of a clock, that is accepted. */
const LARGEST_DIFFERENCE = 60_000

/**
 * Whether rows may be deleted because of their age: with a clock that is ahead they look older, and they cannot be
 * restored. They may not in the first hour after a start or a jump of the clock, in which an operator may correct it,
 * nor while it differs by over a minute from the clock of the database's server. Call it about once a minute.
 */
function createClockWatch({
  database,
  time,
  warn,
  elapsed = () => performance.now(),
}: SweepPorts): () => Promise<boolean> {
  const ahead = () => time.wall() - elapsed()
  let since = elapsed()
  let before = ahead()
  let warned = Number.NEGATIVE_INFINITY

  function warnHourly(line: string): void {
    if (elapsed() - warned < HOUR) return
    warned = elapsed()
    warn(line)
  }

  function noticeJump(): void {
    const jump = ahead() - before
    before += jump
    if (Math.abs(jump) <= LARGEST_DIFFERENCE) return
    since = elapsed()
    if (Math.abs(jump) > DAY)
      warn(
        `the machine's clock moved ${jump > 0 ? 'forward' : 'back'} by ${lengthOf(jump)}: nothing is deleted in the next hour`,
      )
  }

  async function agreesWithServer(): Promise<boolean> {
    const question = time.wall()
    const server = await database.serverTime()
    if (server === undefined) return true
    // The server read its clock at some moment between the query and its result.
    const difference = Math.max(question - server, 0) || Math.min(time.wall() - server, 0)
    if (Math.abs(difference) <= LARGEST_DIFFERENCE) return true
    warnHourly(
      `the machine's clock is ${lengthOf(difference)} ${difference > 0 ? 'ahead of' : 'behind'} PostgreSQL's: nothing is deleted until they agree within a minute`,
    )
    return false
  }

  return async () => {
    noticeJump()
    return (await agreesWithServer()) && elapsed() - since >= HOUR
  }
}

function lengthOf(ms: number): string {
  const long = Math.abs(ms)
  return long > 2 * DAY ? `${Math.round(long / DAY)} days` : `${Math.round(long / 1000)} seconds`
}
