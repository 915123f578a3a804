/** P9: the service on PostgreSQL. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createPostgresDatabase, startPostgres } from '../test/support/postgres.ts'
import { newFolder } from './folders.ts'
import { load, percentile } from './load.ts'
import { type Bench, type Figure, median, ratioFigure, round } from './measure.ts'
import { creating } from './requests.ts'
import { startFarthing } from './servers.ts'

const run = promisify(execFile)
const LOOP = fileURLToPath(new URL('pg-loop.ts', import.meta.url))
const POOL = 10
const ROUNDS = 3

export async function postgres(bench: Bench): Promise<Figure[]> {
  bench.step('P9: starting PostgreSQL')
  const server = await startPostgres()
  try {
    return [await creates(bench, await createPostgresDatabase(server.url))]
  } finally {
    await server.stop()
  }
}

async function creates({ step, scale }: Bench, url: string): Promise<Figure> {
  const farthing = await startFarthing({ database: url })
  const seconds = Math.max(0.5, 3 * scale)
  const limit = { seconds, mayRest: true }
  await load(farthing.port, 64, limit, creating())
  const [own, floors, times, ratios]: [number[], number[], number[], number[]] = [[], [], [], []]
  for (let i = 0; i < ROUNDS; i++) {
    step(`P9: creating payments on PostgreSQL, round ${i + 1} of ${ROUNDS}`)
    const { stdout } = await run(process.execPath, [LOOP, url, String(POOL), String(seconds)])
    const floor = Math.max(Number(stdout), await runPgbench(url, seconds))
    const { rate, times: each } = await load(farthing.port, 64, limit, creating())
    own.push(rate)
    floors.push(floor)
    times.push(...each)
    ratios.push(rate / floor)
  }
  const rss = farthing.rss()
  await farthing.stop()
  const measured = {
    value: median(own),
    floor: median(floors),
    unit: 'a second',
    against: 'the faster of pgbench and a bare loop with pg, same two inserts',
    ratio: median(ratios),
  }
  return {
    ...ratioFigure('P9', 'POST /v1/payments on PostgreSQL', measured, { least: 0.55 }),
    p50: round(percentile(times, 0.5), 2),
    p99: round(percentile(times, 0.99), 2),
    rss,
  }
}

/** The rate of the same inserts with pgbench; 0 if it is not installed. */
async function runPgbench(url: string, seconds: number): Promise<number> {
  const script = join(newFolder(), 'insert.sql')
  const body = 'x'.repeat(430)
  writeFileSync(
    script,
    `\\set a random(1, 1000000000)
\\set b random(1, 1000000000)
\\set c random(0, 31)
begin;
insert into payments (payment_id, account, amount, reference_folded, reference_group, version,
  status, refunded_amount, body)
  values ((extract(epoch from clock_timestamp()) * 1000000)::bigint || lpad(:b ::text, 10, '0'),
    'pgbench', 4650,
    'pitch-' || :a, :c, 1, 'created', 0, '${body}');
insert into payment_counts (account, bucket, payments) values ('pgbench', 'bucket' || :c, 1)
  on conflict (account, bucket) do update set payments = payment_counts.payments + 1;
commit;
`,
  )
  const args = ['-n', '-f', script, '-c', String(POOL), '-j', '1', '-M', 'prepared']
  args.push('-T', String(Math.ceil(seconds)), url)
  const answered = await run('pgbench', args).catch(() => ({ stdout: '' }))
  return Number(/tps = ([\d.]+)/.exec(answered.stdout)?.[1] ?? 0)
}
