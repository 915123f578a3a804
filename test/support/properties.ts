/**
 * fast-check, with a seed for the whole run. It is fixed, so that a run fails only for a fault of the code under test.
 * `npm run test:long` draws others.
 */
import fc from 'fast-check'

/** The seed of all random choices. */
export const seed = Number(process.env.FARTHING_TEST_SEED ?? 1)

fc.configureGlobal({ seed })

/** Any character. The unit 'binary' of fast-check is the same, and takes a second of each process that makes one. */
export const codePoint = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map(n => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))

/** One of these, as often as its weight says. */
export const weighted = <Value>(
  ...choices: [weight: number, arbitrary: fc.Arbitrary<Value>][]
): fc.Arbitrary<Value> => fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

export { fc }
