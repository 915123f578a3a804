import { mock, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { DAY } from '../../src/core/time.ts'

/**
 * Whether work ends before a timer of this process that starts now. A busy machine delays both, so unlike a duration
 * the result does not depend on its load.
 */
export const endsWithin = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([work.then(() => true), setTimeout(ms, false, { ref: false })])

type Replaced = { mock: { restore(): void } }

/** Tests that hold the same function share one replacement: mocks must be restored in their order. */
const holds = new Map<string, { tests: number; replaced: Replaced }>()

function hold(t: TestContext, what: string, replace: () => Replaced): void {
  const held = holds.get(what) ?? { tests: 0, replaced: replace() }
  holds.set(what, held)
  held.tests += 1
  t.after(() => {
    held.tests -= 1
    if (held.tests > 0) return
    held.replaced.mock.restore()
    holds.delete(what)
  })
}

/** Gives receivers and listeners of this process as much time to answer as the test needs, not two or three seconds. */
export function holdAttempts(t: TestContext): void {
  const start = AbortSignal.timeout
  const lasting = (ms: number) => start(ms > 1_000 && ms <= 2_000 ? DAY : ms)
  hold(t, 'signals', () => mock.method(AbortSignal, 'timeout', lasting))
  holdTimers(t, 1_000, 3_000)
}

/** Stops the clock by which work is limited to seconds, so that no machine is too slow for it. */
export function holdWork(t: TestContext): void {
  const now = performance.now()
  hold(t, 'work', () => mock.method(performance, 'now', () => now))
}

/**
 * Lets timers that begin from now on and take more than `least` and at most `most` milliseconds last longer than the
 * test, so that a slow machine does not reach their end before the test has done its work. A test holds one range.
 */
export function holdTimers(t: TestContext, least: number, most: number): void {
  const start = globalThis.setTimeout
  const lasting = (run: (...of: unknown[]) => void, ms = 0, ...rest: unknown[]) =>
    start(run, ms > least && ms <= most ? DAY : ms, ...rest)
  hold(t, 'timers', () => mock.method(globalThis, 'setTimeout', lasting))
}
