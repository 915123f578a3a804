import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/core/ports.ts'
import { seed } from '../support/properties.ts'
import { databaseKinds } from '../support/service.ts'
import { isLinearizable, type Machine, type Operation } from './linearizability.ts'
import { runRaces } from './race.ts'

for (const kind of databaseKinds)
  test(`Concurrent requests to payments and agreements are linearizable on ${kind}`, () =>
    runRaces({ kind, seed, rounds: 12 }))

/** Ignores how many rows a statement changed, so a lost compare-and-swap is not noticed. */
const uncounted = (database: Database): Database => ({
  ...database,
  write: statements => database.write(statements.map(({ sql, values }) => ({ sql, values }))),
})

test('The races detect a database that does not count the rows it changes', () =>
  assert.rejects(runRaces({ kind: 'sqlite', seed, rounds: 4, wrap: uncounted }), /"(read|create)/))

type Input = 'take' | 'look'

/** A till that gives out its one coin once. */
const till: Machine<number, Input> = {
  initial: 1,
  apply: (coins, input) =>
    input === 'look'
      ? { state: coins, output: `${coins}` }
      : { state: Math.max(0, coins - 1), output: coins > 0 ? 'taken' : 'empty' },
}

/** Each operation as `began-ended input output`; `-` ends nothing and `?` is no output. */
const histories: [name: string, isGood: boolean, history: string][] = [
  ['serial operations', true, '1-2 take taken, 3-4 take empty'],
  ['overlapping operations that fit one order', true, '1-6 take empty, 2-5 look 1, 3-4 take taken'],
  ['an unanswered operation that took effect', true, '1- take ?, 2-3 look 0'],
  ['an unanswered operation that took no effect', true, '1- take ?, 2-3 look 1'],
  ['two winners', false, '1-4 take taken, 2-3 take taken'],
  ['no winner', false, '1-4 take empty, 2-3 take empty'],
  ['a stale read', false, '1-2 take taken, 3-4 look 1'],
  ['two reads that go back in time', false, '1-6 take taken, 2-3 look 0, 4-5 look 1'],
  ['an effect before its operation began', false, '1-2 look 0, 3- take ?'],
]

function parse(text: string): Operation<Input> {
  const [, began, ended, input, output] = /(\d)-(\d?) (\w+) (.+)/.exec(text) ?? []
  return {
    began: Number(began),
    ended: Number(ended || Infinity),
    input: input as Input, // the table above
    output: output === '?' ? undefined : output,
  }
}

for (const [name, isGood, history] of histories)
  test(`A history with ${name} is ${isGood ? '' : 'not '}linearizable`, () => {
    assert.equal(isLinearizable(history.split(', ').map(parse), till), isGood)
  })
