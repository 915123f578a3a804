/** Globals that the library reads when it is loaded: test runners replace them later, as with fake timers. */
import { setTimeout } from 'node:timers/promises'

export const sleep: typeof setTimeout = setTimeout
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
