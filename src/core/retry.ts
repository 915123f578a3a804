import { setTimeout } from 'node:timers/promises'
import { ApiError, overloaded } from './errors.ts'

const MOST_TRIES = 20
/** The first retry follows at once: most races have two writers. */
const TRIES_WITHOUT_PAUSE = 2
/** Milliseconds. The longest pause doubles with each try, up to this: some 1.5 seconds of pauses in all. */
const LONGEST_PAUSE = 250

/** Repeats an attempt while it resolves undefined because of another writer, with random pauses. 503 after 20 tries. */
export async function untilWritten<Done extends object>(attempt: () => Promise<Done | undefined>) {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const done = await attempt()
    if (done) return done
    if (tries >= TRIES_WITHOUT_PAUSE && tries < MOST_TRIES)
      await pause(Math.min(LONGEST_PAUSE, 2 ** tries))
  }
  throw overloaded()
}

/** Five minutes, with pauses of LONGEST_PAUSE. */
const MOST_WAITS = 1_200

/** Repeats an attempt while it throws 503, for five minutes. The request keeps its place: so only some can wait. */
export async function whileOverloaded(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      const isOverloaded = error instanceof ApiError && error.status === 503
      if (!isOverloaded || tries > MOST_WAITS) throw error
      await setTimeout(LONGEST_PAUSE)
    }
}

/** Waits a random time, up to `longest` milliseconds, so that two writers in a race do not meet again. */
export const pause = (longest: number): Promise<void> => setTimeout(Math.random() * longest)
