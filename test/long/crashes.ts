/** Repeated crashes under clients that keep a ledger of every response. */
import {
  type CrashReport,
  crashPostgres,
  crashSqlite,
  crashUnderInstances,
} from '../faults/process/crashes.ts'
import { startCrashablePostgres } from '../faults/process/postgres-server.ts'
import { startReplicatedPostgres } from '../faults/process/replicated-postgres.ts'
import { poolerVersion, startPooler } from '../support/pgbouncer.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import type { JobOptions, Jobs } from './run.ts'

export const jobs: Jobs = {
  'kill-service': {
    title: 'kill -9 of the service under 16 clients (SQLite)',
    run: async options => sentence(await crashSqlite(cycles(1_000, options))),
  },
  'kill-postgres': {
    title: 'kill -9 of PostgreSQL under two instances and 16 clients',
    run: async options => sentence(await crashPostgres(cycles(50, options))),
  },
  'fail-over': {
    title:
      'kill -9 of a PostgreSQL primary and promotion of its synchronous standby, under two instances and 16 clients',
    run: failOver,
  },
  pooler: {
    title:
      'kill -9 of PgBouncer in transaction mode and of PostgreSQL behind it, in turn, under two instances and 16 clients',
    run: crashPooler,
  },
}

const sentence = (report: CrashReport): string =>
  `${report.cycles} crashes, ${report.answered} requests answered and ${report.unanswered} cut off, ${report.payments} payments and ${report.messages} webhook messages acknowledged`

const cycles = (most: number, { seed, scale }: JobOptions) => ({
  cycles: Math.ceil(most * scale),
  seed,
  progress(cycle: number, report: CrashReport) {
    if (cycle % 50 === 0) console.log(sentence(report))
  },
})

async function failOver(options: JobOptions): Promise<string> {
  const server = await startReplicatedPostgres()
  const url = await createPostgresDatabase(server.url)
  const lengths: number[] = []
  try {
    const report = await crashUnderInstances(cycles(10, options), url, url, async () => {
      lengths.push(await server.failOver())
    })
    const longest = Math.round(Math.max(...lengths) / 100) / 10
    return `${sentence(report)}; without a primary for ${longest} s at most`
  } finally {
    await server.stop()
  }
}

/** Connections of the pooler to the server, for the twenty of two instances. */
const CONNECTIONS = 4

async function crashPooler(options: JobOptions): Promise<string> {
  const version = poolerVersion()
  if (!version) return 'not run: PgBouncer is not installed (Debian: apt-get install pgbouncer)'
  const server = await startCrashablePostgres()
  const pooler = await startPooler(server.url, CONNECTIONS)
  const direct = await createPostgresDatabase(server.url)
  let crashes = 0
  const crash = async () => {
    crashes += 1
    if (crashes % 2 === 1) return pooler.crash()
    server.crash()
    await server.restart()
  }
  try {
    const through = pooler.through(direct)
    const report = await crashUnderInstances(cycles(20, options), through, direct, crash)
    return `PgBouncer ${version} with ${CONNECTIONS} connections: ${sentence(report)}`
  } finally {
    await pooler.stop()
    await server.stop()
  }
}
