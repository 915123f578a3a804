import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'

/**
 * Whether work ends before a timer of this process that starts now. A busy machine delays both, so unlike a duration
 * the result does not depend on its load.
 */
export const endsWithin = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([work.then(() => true), setTimeout(ms, false, { ref: false })])

/** Lets the receivers of this process have as much time for an answer as the test needs, instead of two seconds. */
export const holdAttempts = (t: TestContext): void => holdTimers(t, 1_000, 2_000)

/** Stops the time of this process by which work is limited to seconds, so that no machine is too slow for it. */
export function holdWork(t: TestContext): void {
  if ('mock' in performance.now) return // the test has asked for it before
  const now = performance.now()
  t.mock.method(performance, 'now', () => now)
}

const DAY = 24 * 60 * 60 * 1000

/**
 * Lets timers that begin from now on and take more than `least` and at most `most` milliseconds last until the end of the
 * test and longer, so that what they limit is not over before the test has done its work on a slow machine.
 */
export function holdTimers(t: TestContext, least: number, most: number): void {
  const start = globalThis.setTimeout
  if ('mock' in start) return // the test has asked for it before
  t.mock.method(
    globalThis,
    'setTimeout',
    (run: (...of: unknown[]) => void, ms = 0, ...rest: unknown[]) =>
      start(run, ms > least && ms <= most ? DAY : ms, ...rest),
  )
}
