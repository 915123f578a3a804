/** Repeated crashes under clients that keep a ledger of every response. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import {
  type CrashReport,
  crashPostgres,
  crashSqlite,
  crashUnder,
} from '../faults/process/crashes.ts'
import { startCrashablePostgres } from '../faults/process/postgres-server.ts'
import { startReplicatedPostgres } from '../faults/process/replicated-postgres.ts'
import { damageLastPage } from '../support/damaged-page.ts'
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
  'damaged-record': { title: 'A damaged record, and kill -9 (SQLite)', run: damageRecord },
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
    const crash = async () => void lengths.push(await server.failOver())
    const report = await crashUnder(cycles(10, options), { url, instances: 2, crash })
    const longest = Math.round(Math.max(...lengths) / 100) / 10
    return `${sentence(report)}; without a primary for ${longest} s at most`
  } finally {
    await server.stop()
  }
}

/** Connections of the pooler to the server, for the twenty connections of two instances. */
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
    await (crashes % 2 === 1 ? pooler.crash() : server.crashAndRestart())
  }
  try {
    const url = pooler.through(direct)
    const report = await crashUnder(cycles(20, options), { url, direct, instances: 2, crash })
    return `PgBouncer ${version} with ${CONNECTIONS} connections: ${sentence(report)}`
  } finally {
    await pooler.stop()
    await server.stop()
  }
}

/** Statements that damage the record of requests. `undo` runs before the next damage. */
const DAMAGE: { damage: string; undo?: string }[] = [
  { damage: 'update exchanges set body = substr(body, 1, length(body) / 2)' },
  { damage: 'update exchanges set body = randomblob(500)' },
  { damage: 'delete from exchanges' },
  {
    damage: 'alter table exchanges rename to exchanges_away',
    undo: 'alter table exchanges_away rename to exchanges',
  },
  {
    damage: `create trigger full before insert on exchanges
      begin select raise(abort, 'the disk is full'); end`,
    undo: 'drop trigger full',
  },
]

const PARTS = ['exchanges', 'exchanges_by_account', 'exchanges_by_payment']

const FAILED = /requests could not be recorded/g

async function damageRecord(options: JobOptions): Promise<string> {
  let lines = 0
  const damaging = (damage: (path: string, crash: number) => void) => {
    let crash = 0
    return crashSqlite({
      ...cycles(15, options),
      damageRecord({ path, output }) {
        const failed = output.match(FAILED)?.length ?? 0
        assert.ok(failed <= 1, `${failed} lines say that requests could not be recorded`)
        lines += failed
        damage(path, crash++)
      },
    })
  }
  const rows = await damaging((path, crash) => {
    const database = new DatabaseSync(path)
    const undo = DAMAGE[(crash - 1) % DAMAGE.length]?.undo
    if (undo) database.exec(undo)
    database.exec(DAMAGE[crash % DAMAGE.length]?.damage ?? '')
    database.close()
  })
  const before = lines
  const pages = await damaging((path, crash) => {
    const part = PARTS[crash]
    if (part) damageLastPage(path, part)
  })
  assert.ok(lines > before, 'the damage of the pages had an effect')
  return `rows: ${sentence(rows)}; pages: ${sentence(pages)}; ${lines} lines of the log`
}
