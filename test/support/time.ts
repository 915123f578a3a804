import { setTimeout } from 'node:timers/promises'

/**
 * Whether work ends before a timer of this process that starts now. A busy machine delays both, so unlike a duration
 * the result does not depend on its load.
 */
export const endsWithin = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([work.then(() => true), setTimeout(ms, false, { ref: false })])
