import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CutReport, cutPower } from '../faults/disk/images.ts'
import { traceInto } from '../faults/disk/trace.ts'
import { KEY, settings } from '../faults/process/serve.ts'
import { createWorkload, type Random, seeded } from '../faults/process/workload.ts'
import { tempFolder } from '../support/folders.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const PROGRAM = fileURLToPath(new URL('../faults/disk/durable-program.ts', import.meta.url))

/** Requests during the trace, enough for several checkpoints. */
const ANSWERS = 10_000

/** The service, and as a control a program on its SQLite port with weaker `synchronous` settings. */
export const job: Job = {
  title: 'power cuts, rebuilt from a trace of the calls',
  async run({ seed, scale }) {
    const random = seeded(seed)
    const images = Math.ceil(10_000 * scale)
    const control = Math.ceil(1_000 * Math.min(1, scale))
    const folder = tempFolder()
    const off = await cutProgram(folder, 'off', control, random)
    assert.ok(off.losing > 0 && off.damaged > 0, `the control must lose: ${sentence(off)}`)
    const normal = await cutProgram(folder, 'normal', control, random)
    assert.ok(normal.losing > 0, `the control must lose: ${sentence(normal)}`)
    const full = await cutProgram(folder, 'full', control, random)
    const service = await cutService(folder, images, random)
    for (const report of [full, service]) {
      assert.equal(report.losing + report.damaged, 0, JSON.stringify(report, null, 2))
      assert.ok(report.acknowledged > 0 && report.checkpoints > 3)
    }
    return [
      `service: ${sentence(service)}`,
      `control program with synchronous OFF: ${sentence(off)}`,
      `NORMAL: ${sentence(normal)}`,
      `FULL: ${sentence(full)}`,
    ].join('; ')
  },
}

const sentence = ({ images, losing, worst, damaged, acknowledged, ...rest }: CutReport): string =>
  `${images} images over ${rest.moments} calls and ${rest.checkpoints} syncs of the database file, ${losing} without something acknowledged (at worst ${worst} of ${acknowledged}), ${damaged} damaged`

async function cutProgram(folder: string, synchronous: string, images: number, random: Random) {
  const path = join(folder, `${synchronous}.db`)
  const trace = join(folder, `${synchronous}.trace`)
  const [strace = '', ...args] = traceInto(trace)
  const command = [process.execPath, PROGRAM, path, synchronous, '300']
  const { status, stderr } = spawnSync(strace, [...args, ...command], { encoding: 'utf8' })
  assert.equal(status, 0, `strace is needed here (apt-get install strace): ${stderr}`)
  return cutPower({
    trace,
    path,
    images,
    random,
    acknowledges: /"note_id":"([^"]+)"/g,
    present: 'select note_id from notes',
  })
}

/** Traces the service from an empty folder to the end of its process. */
async function cutService(folder: string, images: number, random: Random): Promise<CutReport> {
  const path = join(folder, 'farthing.db')
  const trace = join(folder, 'service.trace')
  const service = await startProcess({ env: settings(`sqlite:${path}`), wrapper: traceInto(trace) })
  const workload = createWorkload([service.baseUrl], KEY, random)
  await workload.run(8, ANSWERS)
  assert.deepEqual(await service.terminate(), { code: 0, signal: null })
  return cutPower({
    trace,
    path,
    images,
    random,
    // The identifier of a created payment or refund in the response.
    acknowledges: /HTTP\/1\.1 20[12] [\s\S]*?\{"(?:payment_id|refund_id)":"([0-9a-v]{26})"/g,
    present: 'select payment_id from payments union all select refund_id from refunds',
    consistent: [
      `select p.payment_id from payments p left join refunds r on r.payment_id = p.payment_id
       group by p.payment_id, p.refunded_amount having p.refunded_amount <> total(r.amount)`,
      `select * from refunds where payment_id not in (select payment_id from payments)`,
      `select * from idempotency_keys where payment_id not in (select payment_id from payments)`,
    ],
  })
}
