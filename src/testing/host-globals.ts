/**
 * Globals of the host process that the library reads once, when it is loaded. Test runners replace globals later, for
 * example with fake timers.
 */
import { clearTimeout as clear, setTimeout as set } from 'node:timers'

export const setTimer: typeof set = set
export const clearTimer: typeof clear = clear
export const elapsed: () => number = performance.now.bind(performance)
export const HostPromise = Promise

/** Resolves after so many milliseconds. Does not keep the process alive. */
export const sleep = (ms: number): Promise<void> =>
  new HostPromise(resolve => void setTimer(resolve, ms).unref())
