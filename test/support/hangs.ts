/**
 * Ends processes of tests that hang. A test hangs if for a minute it neither ends nor works: it and the processes that
 * it started wait for something other than a processor. So a slow or busy machine ends no test that works.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, ofThreads, processTree, signal } from './process-tree.ts'

/** Milliseconds that a test may wait, and that a test may last that works all the time. */
const LONGEST_WAIT = 60_000
const LONGEST_WORK = 600_000
/** The least share of its time in which a working test has or wants a processor. A test that polls has less. */
const WORKING = 0.1
/** Linux counts in hundredths of a second on every architecture. */
const TICK_MS = 10

/** The work of a process since its latest progress (`changed`, `seen`), and since it last worked enough (`began`). */
type Span = { changed: number; seen: number; began: number; worked: number }

/**
 * Returns a function to call every second. It ends the processes that hang, of all that note their progress in the
 * folder (progress.ts), and returns a sentence about each.
 */
export function createHangs(folder: string, { longestWait = LONGEST_WAIT } = {}): () => string[] {
  const spans = new Map<string, Span>()
  let before = new Map<number, number>()

  function isHanging(name: string, changed: number, worked: number): boolean {
    const now = Date.now()
    const last = spans.get(name)
    if (last?.changed !== changed) {
      spans.set(name, { changed, seen: now, began: now, worked: 0 })
      return false
    }
    last.worked += worked
    const lasted = now - last.began
    if (lasted < longestWait) return false
    if (last.worked < lasted * WORKING) return true
    Object.assign(last, { began: now, worked: 0 })
    return now - last.seen > LONGEST_WORK
  }

  return () => {
    const latest = new Map<number, number>()
    const hanging = readdirSync(folder).filter(name => {
      const tree = processTree(Number(name))
      const works = tree.map(pid => [pid, workOf(pid)] as const)
      for (const [pid, work] of works) latest.set(pid, work)
      const worked = works.reduce((sum, [pid, work]) => sum + work - (before.get(pid) ?? 0), 0)
      const changed = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs
      if (changed === undefined || !isHanging(name, changed, worked)) return false
      return tree.filter(pid => signal(pid, 'SIGKILL')).length > 0
    })
    before = latest
    return hanging.map(name => {
      const where = readFileSync(join(folder, name), 'utf8')
      rmSync(join(folder, name))
      return `Tests hang ${where}, and were ended`
    })
  }
}

/** Milliseconds in which a process had a processor or waited for one, with its threads and its ended children. */
function workOf(pid: number): number {
  const [user = 0, system = 0] = fieldsOf(pid).slice(13, 15)
  return ofThreads(pid, 'schedstat').reduce(
    (sum, thread) => {
      const [ran, waited] = thread.split(' ')
      return sum + (Number(ran) + Number(waited ?? 0)) / 1e6
    },
    (Number(user) + Number(system)) * TICK_MS,
  )
}
