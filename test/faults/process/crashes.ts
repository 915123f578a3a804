/** Repeated crashes under clients that keep a ledger of every response. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../../src/core/ports.ts'
import { createClient } from '../../support/client.ts'
import { tempFolder } from '../../support/folders.ts'
import { openAt } from '../../support/open-database.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { type FarthingProcess, startProcess } from '../../support/process.ts'
import { checkInvariants } from '../invariants.ts'
import { checkAllDelivered, HOOKED, HOOKED_KEY, startHookReceiver } from './hooked-account.ts'
import type { Entry } from './ledger.ts'
import { startCrashablePostgres } from './postgres-server.ts'
import { KEY, settings } from './serve.ts'
import { createWorkload, type Random, seeded, type Workload } from './workload.ts'

export type CrashOptions = {
  cycles: number
  seed: number
  progress?: (cycle: number, report: CrashReport) => void
  /** Damages the record of requests after each crash of the service on a SQLite file, before it starts again. */
  damageRecord?: (at: { path: string; output: string }) => void
}

/** `unanswered`: requests that a crash cut off; `payments`: acknowledged payments. */
export type CrashReport = {
  seed: number
  cycles: number
  answered: number
  unanswered: number
  payments: number
  messages: number
}

const CLIENTS = 12
const CLIENTS_WITH_WEBHOOK = 4
/** Responses before the crash, at least and at most. A count, because machines differ in speed. */
const FEWEST_ANSWERS = 30
const MOST_ANSWERS = 300
/** Payments of earlier cycles to check again after each crash. */
const OLD_ONES = 50

type Crashing = {
  url: string
  /** The address of the database for the checks, if that is another one. */
  direct?: string
  /** On PostgreSQL 2: these are never restarted and must be ready again after a crash. */
  instances: 1 | 2
  /** Crashes something, and lets it come back. */
  crash(instances: FarthingProcess[], start: () => Promise<FarthingProcess>): Promise<void>
}

/** Kills the service on a SQLite file with kill -9. Throws the faults that it finds. */
export function crashSqlite(options: CrashOptions): Promise<CrashReport> {
  const path = join(tempFolder(), 'farthing.db')
  return crashUnder(options, {
    url: `sqlite:${path}`,
    instances: 1,
    async crash(instances, start) {
      await instances[0]?.kill()
      options.damageRecord?.({ path, output: instances[0]?.output() ?? '' })
      instances[0] = await start()
    },
  })
}

/** Kills PostgreSQL with kill -9 under two instances. Throws the faults that it finds. */
export async function crashPostgres(options: CrashOptions): Promise<CrashReport> {
  const server = await startCrashablePostgres()
  const url = await createPostgresDatabase(server.url)
  try {
    return await crashUnder(options, { url, instances: 2, crash: server.crashAndRestart })
  } finally {
    await server.stop()
  }
}

export async function crashUnder(
  options: CrashOptions,
  { url, direct = url, ...crashing }: Crashing,
): Promise<CrashReport> {
  const receiver = await startHookReceiver()
  const start = () => startProcess({ env: settings(url, HOOKED) })
  const instances: FarthingProcess[] = []
  const baseUrls: string[] = []
  const note = () => baseUrls.splice(0, Infinity, ...instances.map(({ baseUrl }) => baseUrl))
  const read = async (use: (database: Database) => Promise<void>) => {
    const database = await openAt(direct)
    await use(database).finally(() => database.close())
  }
  const crash = async () => {
    await crashing.crash(instances, start)
    note()
    await Promise.all(baseUrls.map(ready))
  }
  try {
    while (instances.length < crashing.instances) instances.push(await start())
    note()
    await receiver.register(baseUrls)
    const report = await runCycles(options, baseUrls, receiver.received, crash, read)
    for (const { output } of instances)
      if (/unhandled|cannot go on/i.test(output())) throw new Error(output())
    return report
  } finally {
    for (const instance of instances) await instance.kill()
    await receiver.close()
  }
}

/** `crash` also waits until all is ready again. `read` opens the database, hands it to `use` and closes it. */
async function runCycles(
  { cycles, seed, progress, damageRecord }: CrashOptions,
  baseUrls: string[],
  received: Map<string, number>,
  crash: () => Promise<void>,
  read: (use: (database: Database) => Promise<void>) => Promise<void>,
): Promise<CrashReport> {
  const damagedRecord = damageRecord !== undefined
  const random = seeded(seed)
  const plain = createWorkload(baseUrls, KEY, random)
  const hooked = createWorkload(baseUrls, HOOKED_KEY, random)
  const both = [plain, hooked]
  const total = (count: (workload: Workload) => number) => count(plain) + count(hooked)
  let unanswered = 0
  const report = (done: number): CrashReport => ({
    seed,
    cycles: done,
    answered: total(workload => workload.answered()),
    unanswered,
    payments: total(({ ledger }) => ledger.entries.size),
    messages: received.size,
  })
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const since = Date.now()
    const work = Promise.all([plain.run(CLIENTS), hooked.run(CLIENTS_WITH_WEBHOOK)])
    const more = FEWEST_ANSWERS + random() * (MOST_ANSWERS - FEWEST_ANSWERS)
    const enough = total(workload => workload.answered()) + more
    const answers = async () => {
      while (total(workload => workload.answered()) < enough) await pause(2)
    }
    await Promise.race([answers(), work]) // a client that finds a fault ends the cycle at once
    await crash()
    for (const workload of both) workload.stop() // a short crash does not cut off every client
    await work
    for (const workload of both) {
      unanswered += unansweredOf(workload)
      // After the last crash all payments are checked.
      if (cycle < cycles) await workload.check([...workload.touched, ...sample(workload, random)])
      else await workload.check()
    }
    await read(database => checkInvariants(database, { now: Date.now(), since, damagedRecord }))
    progress?.(cycle, report(cycle))
  }
  // Messages that a crash left unsent are sent once their claims have ended.
  await read(async database => {
    await checkAllDelivered(database, received)
    await checkInvariants(database, { now: Date.now(), settled: true, damagedRecord })
  })
  return report(cycles)
}

const unansweredOf = ({ ledger, touched }: Workload): number =>
  ledger.lost.length + [...touched].filter(({ unknown }) => unknown !== undefined).length

function sample({ ledger }: Workload, random: Random): Entry[] {
  const all = [...ledger.entries.values()]
  return Array.from({ length: OLD_ONES }, () => all[Math.floor(random() * all.length)]).filter(
    entry => entry !== undefined,
  )
}

/** Waits until an instance is ready again without a restart. */
async function ready(baseUrl: string): Promise<void> {
  const api = createClient([baseUrl], undefined)
  while ((await api.get('/readyz')).status !== 200) await pause(50)
}
