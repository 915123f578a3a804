/**
 * What the library takes from its host process, once, when it is loaded: test runners replace globals later, with fake
 * timers for example.
 */
import { clearTimeout as clear, setTimeout as set } from 'node:timers'

export const setTimer: typeof set = set
export const clearTimer: typeof clear = clear
export const elapsed: () => number = performance.now.bind(performance)
export const HostPromise = Promise

/** Resolves after so many milliseconds. Does not keep the process alive. */
export const sleep = (ms: number): Promise<void> =>
  new HostPromise(resolve => void setTimer(resolve, ms).unref())
