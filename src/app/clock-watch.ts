import type { Database, Time } from '../core/ports.ts'
import { DAY, HOUR } from '../core/time.ts'

/** The largest difference between two clocks, and the largest jump of one, that is accepted. Milliseconds. */
const LARGEST_DIFFERENCE = 60_000

type ClockWatchPorts = {
  database: Database
  time: Pick<Time, 'wall'>
  warn: (line: string) => void
  /** Milliseconds of a monotonic clock. */
  elapsed?: () => number
}

/**
 * Returns true if rows may be deleted because of their age. A clock that is ahead would make them look older, and
 * deleted rows cannot be restored. So the result is false in the first hour after a start or a jump of the machine's
 * clock, in which an operator may correct it, and while it differs by more than a minute from the clock of the
 * database's server. Call it about once a minute. Rejects if the server cannot be reached.
 */
export function createClockWatch(ports: ClockWatchPorts): () => Promise<boolean> {
  const { database, time, elapsed = () => performance.now() } = ports
  const ahead = () => time.wall() - elapsed()
  let since = elapsed()
  let before = ahead()
  let warned = Number.NEGATIVE_INFINITY

  function warnHourly(line: string): void {
    if (elapsed() - warned < HOUR) return
    warned = elapsed()
    ports.warn(line)
  }

  function noticeJump(): void {
    const jump = ahead() - before
    before += jump
    if (Math.abs(jump) <= LARGEST_DIFFERENCE) return
    since = elapsed()
    if (Math.abs(jump) > DAY)
      ports.warn(
        `the machine's clock moved ${jump > 0 ? 'forward' : 'back'} by ${lengthOf(jump)}: nothing is deleted in the next hour`,
      )
  }

  async function agreesWithServer(): Promise<boolean> {
    const question = time.wall()
    const server = await database.serverTime()
    if (server === undefined) return true
    // The server read its clock at some moment between the question and the answer.
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
