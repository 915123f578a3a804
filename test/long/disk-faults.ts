import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
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
    const killed = await runFaultPoints({
      points: Math.ceil(500 * scale),
      seed,
      fault: nth => `fsync:signal=KILL:when=${nth}`,
      judge: judgeKilled,
    })
    const stopped = await runFaultPoints({
      points: Math.ceil(200 * scale),
      seed,
      fault: nth => `fsync:error=EIO:when=${nth}`,
      judge: judgeStopped,
    })
    const full = await runFaultPoints({
      points: Math.ceil(200 * scale),
      seed,
      fault: nth => `pwrite64:error=ENOSPC:when=${nth * 7}+`,
      judge: judgeFull,
    })
    return `crash: ${sentence(killed)}; EIO: ${sentence(stopped)}; ENOSPC: ${sentence(full)}`
  },
}

const sentence = ({ points, atStart, reached, answered, payments }: FaultReport): string =>
  `${points} points (${atStart} before it listened, ${reached} under load), ${answered} requests answered, ${payments} payments acknowledged`
