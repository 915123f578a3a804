/** Globals that the library reads when it is loaded: test runners replace them later, as with fake timers. */
import { clearTimeout as clear, setTimeout as set } from 'node:timers'

export const setTimer: typeof set = set
export const clearTimer: typeof clear = clear
export const elapsed: () => number = performance.now.bind(performance)
export const HostPromise = Promise

/** Each call after the first returns the promise of the first. */
export function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}

/** Resolves after so many milliseconds. Does not keep the process alive. */
export const sleep = (ms: number): Promise<void> =>
  new HostPromise(resolve => void setTimer(resolve, ms).unref())
