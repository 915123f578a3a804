/**
 * Ends processes of tests that hang. A test hangs if for a minute it neither ends nor works: it and what it started wait for
 * something else than a processor. So a slow or busy machine, on which work takes longer, ends no test that works.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, ofThreads, processTree, signal } from './process-tree.ts'

/** Milliseconds that a test may wait, and for which one that works all the time may last. */
const LONGEST_WAIT = 60_000
const LONGEST_WORK = 600_000
/** The part of its time in which a test that works has or wants a processor. One that looks again and again has less. */
const WORKING = 0.1
/** Linux counts in hundredths of a second on every architecture. */
const TICK_MS = 10

/** What a process of tests did since its latest progress (`changed`, `seen`), and since it was last found to work (`began`). */
type Span = { changed: number; seen: number; began: number; worked: number }

/**
 * Returns a function that ends those processes which hang, of all that note their progress in the folder (progress.ts), and
 * returns a sentence about each. Whoever calls it does so every second.
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
