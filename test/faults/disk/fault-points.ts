/** Runs the service on a disk that fails at one call, then on a working one, for many calls. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '../../support/client.ts'
import { type Exit, type FarthingProcess, startProcess } from '../../support/process.ts'
import { checkRows, KEY, settings } from '../process/serve.ts'
import { createWorkload, seeded, type Workload } from '../process/workload.ts'
import { injecting } from './trace.ts'

export type FaultOptions = {
  points: number
  seed: number
  /** The fault of the nth point, as strace takes it. */
  fault: (nth: number) => string
  /** Checks a process whose clients all lost a request, or that has ended. */
  judge: (service: FarthingProcess, exit: Exit | undefined, workload: Workload) => Promise<void>
}

/** `atStart`: faults before the service listened. `reached`: faults under load. */
export type FaultReport = {
  points: number
  atStart: number
  reached: number
  answered: number
  payments: number
}

const CLIENTS = 8
/** Milliseconds of load if the fault does not occur. */
const LONGEST_RUN = 1_500
/** Points until a new folder, so that faults also occur during migrations. */
const POINTS_PER_FOLDER = 25

export async function runFaultPoints(options: FaultOptions): Promise<FaultReport> {
  const report = { points: 0, atStart: 0, reached: 0, answered: 0, payments: 0 }
  for (let first = 1; first <= options.points; first += POINTS_PER_FOLDER) {
    const folder = mkdtempSync(join(tmpdir(), 'farthing-fault-'))
    try {
      const last = Math.min(options.points, first + POINTS_PER_FOLDER - 1)
      await runInFolder(join(folder, 'farthing.db'), first, last, options, report)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    console.log(JSON.stringify(report))
  }
  return report
}

async function runInFolder(
  path: string,
  first: number,
  last: number,
  { seed, fault, judge }: FaultOptions,
  report: FaultReport,
): Promise<void> {
  const env = settings(`sqlite:${path}`)
  const baseUrls: string[] = []
  const workload = createWorkload(baseUrls, KEY, seeded(seed + first))
  for (let nth = first; nth <= last; nth++) {
    report.points += 1
    const wrapper = injecting(fault(nth))
    const service = await startProcess({ env, wrapper }).catch(() => undefined)
    if (!service) report.atStart += 1
    else
      try {
        baseUrls[0] = service.baseUrl
        const late = setTimeout(workload.stop, LONGEST_RUN)
        await workload.run(CLIENTS)
        clearTimeout(late)
        const exit = await Promise.race([service.exited, pause(1_000, undefined)])
        if (exit || workload.ledger.lost.length > 0) report.reached += 1
        await judge(service, exit, workload)
      } finally {
        await service.kill()
      }
    await checkAfterwards(env, baseUrls, workload)
  }
  report.answered += workload.answered()
  report.payments += workload.ledger.entries.size
}

async function checkAfterwards(
  env: ReturnType<typeof settings>,
  baseUrls: string[],
  workload: Workload,
): Promise<void> {
  const service = await startProcess({ env })
  try {
    baseUrls[0] = service.baseUrl
    await workload.check()
    await checkRows(env.DATABASE_URL)
  } finally {
    await service.kill()
  }
}

/** The fault must have killed the process, if it occurred. */
export async function judgeKilled(_service: FarthingProcess, exit: Exit | undefined) {
  if (exit) assert.deepEqual(exit, { code: null, signal: 'SIGKILL' })
}

/** The process must have ended itself with an error, if the fault occurred. */
export async function judgeStopped(service: FarthingProcess, exit: Exit | undefined) {
  if (!exit) return
  assert.deepEqual(exit, { code: 1, signal: null })
  assert.match(service.output(), /the service cannot go on/)
}

/** The process must run on: reads succeed, readiness is 503, and writes succeed once there is room. */
export async function judgeFull(
  service: FarthingProcess,
  exit: Exit | undefined,
  { ledger, touched }: Workload,
) {
  assert.equal(exit, undefined, `the process must not end: ${service.output()}`)
  const unanswered = [...touched].some(({ unknown }) => unknown) || ledger.lost.length > 0
  if (!unanswered) return
  const api = createClient([service.baseUrl], KEY)
  const ready = async () => (await api.get('/readyz')).status
  assert.equal(await ready(), 503)
  assert.equal((await api.get('/v1/payments')).status, 200)
  letGo(service)
  while ((await ready()) !== 200) await pause(20)
  await api.createPayment()
}

/** Ends strace, and with it the fault. */
function letGo({ pid }: FarthingProcess): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  process.kill(Number(/TracerPid:\s*(\d+)/.exec(status)?.[1]), 'SIGTERM')
}
