import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  type FaultOptions,
  type FaultReport,
  judgeFull,
  judgeKilled,
  judgeStopped,
  runFaultPoints,
} from '../faults/disk/fault-points.ts'
import type { Job } from './run.ts'

/** One run for each call of a kind, with the fault at that call. */
export const job: Job = {
  title: 'disk faults: a crash at each fsync, EIO at each fsync, ENOSPC from each write on',
  async run({ seed, scale }) {
    const { status } = spawnSync('strace', ['-V'])
    assert.equal(status, 0, 'strace is needed here (apt-get install strace)')
    const run = async (name: string, most: number, fault: FaultOptions['fault'], judge: Judge) =>
      `${name}: ${sentence(await runFaultPoints({ points: Math.ceil(most * scale), seed, fault, judge }))}`
    return [
      await run('crash', 500, nth => `fsync:signal=KILL:when=${nth}`, judgeKilled),
      await run('EIO', 200, nth => `fsync:error=EIO:when=${nth}`, judgeStopped),
      await run('ENOSPC', 200, nth => `pwrite64:error=ENOSPC:when=${nth * 7}+`, judgeFull),
    ].join('; ')
  },
}

type Judge = FaultOptions['judge']

const sentence = ({ points, atStart, reached, answered, payments }: FaultReport): string =>
  `${points} points (${atStart} before it listened, ${reached} under load), ${answered} requests answered, ${payments} payments acknowledged`
