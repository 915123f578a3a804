import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRecorder, isLinearizable, type Machine, type Operation } from './linearizability.ts'

/** A till that gives out each coin once. */
type Input = 'take' | 'look'
const till: Machine<number, Input> = {
  initial: 1,
  apply: (coins, input) =>
    input === 'look'
      ? { state: coins, output: `${coins}` }
      : { state: Math.max(0, coins - 1), output: coins > 0 ? 'taken' : 'empty' },
}

const operation = (
  began: number,
  ended: number,
  input: Input,
  output: string | undefined,
): Operation<Input> => ({ began, ended, input, output })

describe('A history is linearizable', () => {
  test('when its operations follow each other as one machine would answer', () => {
    const history = [operation(1, 2, 'take', 'taken'), operation(3, 4, 'take', 'empty')]
    assert.equal(isLinearizable(history, till), true)
  })

  test('when operations overlap and some order explains the answers', () => {
    const history = [
      operation(1, 6, 'take', 'empty'),
      operation(2, 5, 'look', '1'),
      operation(3, 4, 'take', 'taken'),
    ]
    assert.equal(isLinearizable(history, till), true)
  })

  test('when an operation without an answer explains what others saw', () => {
    const history = [operation(1, Infinity, 'take', undefined), operation(2, 3, 'look', '0')]
    assert.equal(isLinearizable(history, till), true)
    assert.equal(isLinearizable(history.slice(1), till), false)
  })

  test('when nobody ever saw what became of an operation without an answer', () => {
    const history = [operation(1, Infinity, 'take', undefined), operation(2, 3, 'look', '1')]
    assert.equal(isLinearizable(history, till), true)
  })
})

describe('A history is not linearizable', () => {
  test('when two have won', () => {
    const history = [operation(1, 4, 'take', 'taken'), operation(2, 3, 'take', 'taken')]
    assert.equal(isLinearizable(history, till), false)
  })

  test('when nobody has won', () => {
    const history = [operation(1, 4, 'take', 'empty'), operation(2, 3, 'take', 'empty')]
    assert.equal(isLinearizable(history, till), false)
  })

  test('when a read shows what was before a change that had been answered', () => {
    const history = [operation(1, 2, 'take', 'taken'), operation(3, 4, 'look', '1')]
    assert.equal(isLinearizable(history, till), false)
  })

  test('when two reads see a change and then not', () => {
    const history = [
      operation(1, 6, 'take', 'taken'),
      operation(2, 3, 'look', '0'),
      operation(4, 5, 'look', '1'),
    ]
    assert.equal(isLinearizable(history, till), false)
  })

  test('when an operation without an answer would have to happen before it began', () => {
    const history = [operation(1, 2, 'look', '0'), operation(3, Infinity, 'take', undefined)]
    assert.equal(isLinearizable(history, till), false)
  })
})

test('a recorder notes that operations overlapped', async () => {
  const { history, record } = createRecorder<string>()
  const slow = Promise.withResolvers<string>()
  const first = record('slow', () => slow.promise)
  await record('fast', async () => 'done')
  slow.resolve('done too')
  await first
  assert.deepEqual(history, [
    { input: 'slow', output: 'done too', began: 1, ended: 4 },
    { input: 'fast', output: 'done', began: 2, ended: 3 },
  ])
})
