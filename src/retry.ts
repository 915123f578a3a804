/** Whoever loses has been overtaken by one other request: to lose so often, so many must want the same row at once. */
const MOST_TRIES = 1_000

/**
 * Read, decide, write: `attempt` does all three, and answers undefined where somebody else was faster
 * than its write. Then it is all done again. Throws what `attempt` throws.
 */
export async function untilWritten<Done extends object>(
  attempt: () => Promise<Done | undefined>,
): Promise<Done> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const done = await attempt()
    if (done) return done
  }
  throw new Error(`others were faster ${MOST_TRIES} times in a row`)
}
