/**
 * fast-check, with a seed for the whole run. It is fixed, so that a run fails only for a fault of the code under test.
 * `npm run test:long` draws others.
 */
import fc from 'fast-check'

/** The seed of all random choices. */
export const seed = Number(process.env.FARTHING_TEST_SEED ?? 1)

fc.configureGlobal({ seed })

export { fc }
