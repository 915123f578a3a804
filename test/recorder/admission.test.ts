import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineTime } from '../../src/core/ports.ts'
import { createAdmission } from '../../src/tools/record/admission.ts'

test('2,000 exchanges of an account are recorded at once and 100 a second, and 500 refusals and 20', () => {
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
  assert.equal(refuse({ room: 'one', unlimited: true }, false, 1_000 as MachineTime), undefined)
})
