/**
 * Multiplies the intervals of the record, the waits and the probes by FARTHING_TEST_TIMERS in the processes of the
 * tests, to find tests that depend on the work before a timer fires (test/long/slow.ts). The time limits of PostgreSQL
 * are multiplied in every run, because a slow machine exceeds them. `test/run.ts` loads it.
 */
import { registerHooks } from 'node:module'

const POSTGRES = 'platform/database/postgres.ts'
/** The constants, in milliseconds, by their file of `src`. Promised times, such as the longest wait, stay. */
export const INTERVALS: Record<string, string[]> = {
  'tools/record/batches.ts': ['WRITE_EVERY', 'WRITE_EVERY_UNDER_LOAD', 'RETRY_AFTER'],
  'tools/record/recorder.ts': ['LONGEST_HOLD'],
  'tools/watch.ts': ['EVERY_BESIDE_OTHERS'],
  'tools/explain/check/probing.ts': ['POLL_INTERVAL'],
  'testing/waits.ts': ['POLL_INTERVAL'],
  'testing/receiver.ts': ['POLL_INTERVAL'],
  [POSTGRES]: ['CONNECTION_WAIT', 'STATEMENT_TIMEOUT', 'QUERY_TIMEOUT'],
}

const SOURCES = new URL('../../src/', import.meta.url).href

/** The text of this file of `src` with its intervals multiplied. */
export function withIntervals(path: string, source: string, factor: number): string {
  return (INTERVALS[path] ?? []).reduce((text, name) => {
    const defined = new RegExp(`(const ${name} = )([\\d_]+)`)
    if (!defined.test(text)) throw new Error(`${path} has no ${name}: see ${import.meta.filename}`)
    return text.replace(
      defined,
      (_, before, ms) => `${before}${Number(ms.replaceAll('_', '')) * factor}`,
    )
  }, source)
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const path = url.startsWith(SOURCES) ? url.slice(SOURCES.length) : ''
    if (!INTERVALS[path]) return loaded
    const factor = path === POSTGRES ? 12 : Number(process.env.FARTHING_TEST_TIMERS ?? 1)
    return { ...loaded, source: withIntervals(path, String(loaded.source), factor) }
  },
})
