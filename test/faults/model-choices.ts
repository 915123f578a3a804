/** How the model test's commands are made of fast-check's choices. */
import fc from 'fast-check'
import type { Account, Step, World } from './model.ts'

/** A step to be taken when its turn comes: in words, and as what the model does then. */
export type Command = { words: string; step: (world: World) => Step }

export type Choices = fc.Arbitrary<Command>

/** A command by its name and the choices that are made for it. */
export const command = <Made>(
  name: string,
  choices: fc.Arbitrary<Made>,
  step: (world: World, made: Made) => Step,
): Choices =>
  choices.map(made => ({
    words: `${name} ${fc.stringify(made)}`,
    step: world => step(world, made),
  }))

export const oneOf = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values)

/** Undefined otherwise. */
export const maybe = <Value>(arbitrary: fc.Arbitrary<Value>, percent = 50) =>
  fc.oneof(
    { weight: percent, arbitrary },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
  )

/** True once in `weight` + 1 times. */
export const rarely = (weight: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })

export const weighted = (...choices: [weight: number, arbitrary: Choices][]): Choices =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

export const account: fc.Arbitrary<Account> = oneOf<Account>(0, 0, 0, 1)

/** Counted from the newest: mostly what is in use, sometimes something old. */
export const nth = fc.oneof(
  { weight: 9, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.nat(200) },
)

/** A thing, asked for by its owner or, rarely, by the other account. */
export const target = fc.record({ nth, stranger: rarely(25) })

export function asker(owner: { account: Account } | undefined, stranger: boolean): Account {
  const own = owner?.account ?? 0
  return stranger ? (own === 0 ? 1 : 0) : own
}

/** Rarely of no use. */
export const page = {
  page: fc.oneof(
    { weight: 6, arbitrary: oneOf(undefined, undefined, '1', '2', '3') },
    { weight: 1, arbitrary: oneOf('0', 'x', '2147483648', ' ', '01', '-1') },
  ),
  display_size: fc.oneof(
    { weight: 6, arbitrary: oneOf(undefined, undefined, '1', '2', '5') },
    { weight: 1, arbitrary: oneOf('500', '501', '', '0') },
  ),
}

/** Some differ only in case; some hold what SQL or a URL might take for its own. */
export const references = [
  'PITCH-2207',
  'pitch-2207',
  'HALL/93 É',
  'hall/93 é',
  'PLAN_8%',
  `100% \\ "q" 'x' & ?`,
]
