import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ALL_RECORDED_A_SECOND,
  ALL_REFUSALS_A_SECOND,
  RECORDED_A_SECOND,
  RECORDED_AT_ONCE,
  REFUSALS_A_SECOND,
  REFUSALS_AT_ONCE,
} from '../../src/core/budgets.ts'
import type { MachineTime } from '../../src/core/ports.ts'
import { createAdmission } from '../../src/tools/record/admission.ts'

test('2,000 exchanges of an account are recorded at once and 100 a second, and 500 refusals and 20; of all accounts 400 a second, and 200 refusals', () => {
  const { refuse } = createAdmission()
  const limitOf = (room: string, refused: boolean, ms: number) =>
    refuse({ room, unlimited: false }, refused, ms as MachineTime)
  const admitted = (room: string, refused: boolean, ms: number): number => {
    for (let count = 0; ; count++) if (limitOf(room, refused, ms)) return count
  }
  assert.equal(admitted('one', false, 0), 2_000)
  assert.deepEqual([limitOf('one', false, 0), limitOf('other', false, 0)], ['account', 'instance'])
  assert.deepEqual([admitted('one', true, 0), admitted('other', true, 0)], [500, 500])
  assert.deepEqual([admitted('one', false, 1_000), admitted('one', true, 1_000)], [100, 20])
  const byOthers = (refused: boolean): number =>
    Array.from({ length: 10 }, (_, i) => admitted(`account ${i}`, refused, 2_000)).reduce(
      (sum, count) => sum + count,
    )
  assert.equal(byOthers(false), 2 * ALL_RECORDED_A_SECOND - RECORDED_A_SECOND)
  assert.equal(
    byOthers(true),
    RECORDED_AT_ONCE - 2 * REFUSALS_AT_ONCE + 2 * ALL_REFUSALS_A_SECOND - REFUSALS_A_SECOND,
  )
  assert.equal(refuse({ room: 'one', unlimited: true }, false, 1_000 as MachineTime), undefined)
})

test('after the clock was put back, the limits count from there, and a pause is over', () => {
  const DAY = 24 * 60 * 60 * 1_000
  const { refuse, pause } = createAdmission()
  const admitted = (ms: number): number => {
    for (let count = 0; ; count++)
      if (refuse({ room: 'one', unlimited: false }, false, ms as MachineTime)) return count
  }
  assert.equal(admitted(DAY), RECORDED_AT_ONCE)
  assert.equal(admitted(0), 0)
  assert.equal(admitted(1_000), RECORDED_A_SECOND)
  pause(DAY as MachineTime)
  assert.equal(admitted(DAY + 9_999), 0)
  assert.equal(admitted(2_000), RECORDED_A_SECOND)
})
