/**
 * fast-check, with one seed for the whole run. It is fixed, so that a run fails only for a fault of the code under
 * test. `npm run test:long` draws others.
 */
import fc from 'fast-check'

export const seed = Number(process.env.FARTHING_TEST_SEED ?? 1)

fc.configureGlobal({ seed })

/** Any character. The unit 'binary' of fast-check does the same, but takes each process a second to make. */
export const codePoint = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map(n => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))

/** Chooses one of these by their weights. */
export const weighted = <Value>(
  ...choices: [weight: number, arbitrary: fc.Arbitrary<Value>][]
): fc.Arbitrary<Value> => fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

export { fc }
