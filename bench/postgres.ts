/** P9, P10 and N6: the service on PostgreSQL, one instance and two on one database. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { createPostgresDatabase, startPostgres } from '../test/support/postgres.ts'
import { newFolder } from './folders.ts'
import { connect, load, percentile } from './load.ts'
import { type Bench, type Figure, median, round } from './measure.ts'
import { creating, expect, get, idIn, newPayment, post } from './requests.ts'
import { type Server, startFarthing } from './servers.ts'

const run = promisify(execFile)
const LOOP = fileURLToPath(new URL('pg-loop.ts', import.meta.url))
const POOL = 10
const ROUNDS = 3

export async function postgres(bench: Bench): Promise<Figure[]> {
  bench.step('P9: starting PostgreSQL')
  const server = await startPostgres().catch((error: Error) => {
    process.stderr.write(`\n${error.message}\n`)
    process.exit(1)
  })
  const { url } = server
  try {
    const version = await versionOf(url)
    return [
      await alone(bench, url, version),
      await together(bench, url, version),
      await visible(bench, url),
    ]
  } finally {
    await server.stop()
  }
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  await client.end()
  return rows[0]?.server_version ?? ''
}

async function alone({ step, scale }: Bench, cluster: string, version: string): Promise<Figure> {
  const url = await createPostgresDatabase(cluster)
  const farthing = await startFarthing({ database: url })
  const seconds = Math.max(0.5, 3 * scale)
  const limit = { seconds, mayRest: true }
  await load(farthing.port, 64, limit, creating())
  const [own, bare, pgbench, ratios]: [number[], number[], number[], number[]] = [[], [], [], []]
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    step(`P9: creating payments on PostgreSQL, round ${i + 1} of ${ROUNDS}`)
    const { stdout } = await run(process.execPath, [LOOP, url, String(POOL), String(seconds)])
    bare.push(Number(stdout))
    pgbench.push(await runPgbench(url, seconds))
    const { rate, times: each } = await load(farthing.port, 64, limit, creating())
    own.push(rate)
    times.push(...each)
    ratios.push(rate / Math.max(Number(stdout), pgbench.at(-1) ?? 0))
  }
  const rss = farthing.rss()
  await farthing.stop()
  const ratio = round(median(ratios), 3)
  return {
    figure: 'P9',
    what: 'POST /v1/payments on PostgreSQL',
    value: round(median(own)),
    unit: 'a second',
    floor: round(Math.max(median(bare), median(pgbench))),
    against: 'the faster of pgbench and a bare loop with pg, same two inserts',
    ratio,
    p50: round(percentile(times, 0.5), 2),
    p99: round(percentile(times, 0.99), 2),
    connections: 64,
    rows: times.length,
    rss,
    target: 'ratio >= 0.55',
    met: ratio >= 0.55,
    details: { bareLoop: round(median(bare)), pgbench: round(median(pgbench)), postgres: version },
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

/**
 * Two instances get the same requests for one payment at the same time. One of two authorisations with one
 * token succeeds, and one of two full refunds; then both read the same.
 */
async function together({ step, scale }: Bench, cluster: string, version: string): Promise<Figure> {
  const url = await createPostgresDatabase(cluster)
  const one = await startFarthing({ database: url })
  const two = await startFarthing({ database: url })
  step('P10: racing through two instances on one PostgreSQL')
  const seconds = Math.max(1, 8 * scale)
  const until = performance.now() + seconds * 1000
  const times: number[] = []
  const refunded = await Promise.all(
    Array.from({ length: 32 }, async () => {
      let amount = 0
      while (performance.now() < until) amount += await race(one, two, times)
      return amount
    }),
  )
  const total = refunded.reduce((a, b) => a + b, 0)
  await checkRows(url, times.length, total)
  const rss = one.rss()
  await Promise.all([one.stop(), two.stop()])
  return {
    figure: 'P10',
    what: 'payments whose every step was sent to two instances at once',
    value: round(times.length / seconds),
    unit: 'a second',
    p50: round(percentile(times, 0.5), 2),
    p99: round(percentile(times, 0.99), 2),
    connections: 64,
    rows: times.length,
    rss,
    target: 'no change lost or doubled',
    met: true,
    details: { races: times.length * 2, refunded: total, postgres: version },
  }
}

/** Returns the refunded pence. */
async function race(one: Server, two: Server, times: number[]): Promise<number> {
  const [a, b] = [await connect(one.port), await connect(two.port)]
  try {
    const began = performance.now()
    const both = (text: string) => Promise.all([a.send(text), b.send(text)])
    const { return_url, ...fields } = newPayment() as { return_url: string }
    const created = await a.send(
      post('/v1/payments', { ...fields, authorisation_mode: 'moto_api' }),
    )
    expect(created, 201)
    const id = idIn(created)
    const card = {
      one_time_token: /"one_time_token":"(\w+)"/.exec(created.body)?.[1],
      card_number: '4242424242424242',
      cardholder_name: 'R Operator',
      cvc: '123',
      expiry_date: '09/31',
    }
    winners(await both(post('/v1/auth', card)), 204)
    const refund = { amount: 4650, refund_amount_available: 4650 }
    winners(await both(post(`/v1/payments/${id}/refunds`, refund)), 202)
    for (const answer of await both(get(`/v1/payments/${id}`)))
      expect(answer, 200, `"status":"full","amount_available":0,"amount_submitted":4650`)
    times.push(performance.now() - began)
    return 4650
  } finally {
    a.close()
    b.close()
  }
}

function winners(answers: { status: number; body: string }[], status: number): void {
  const won = answers.filter(answer => answer.status === status).length
  if (won !== 1) throw new Error(`${won} of 2 won: ${JSON.stringify(answers)}`)
}

/** Checks that the database agrees with the responses. */
async function checkRows(url: string, payments: number, refunded: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select (select count(*) from payments)::int as payments,
       (select sum(payments) from payment_counts)::int as counted,
       (select sum(refunded_amount) from payments)::int as refunded,
       (select sum(amount) from refunds)::int as refunds`,
  )
  await client.end()
  const wanted = { payments, counted: payments, refunded, refunds: refunded }
  if (JSON.stringify(rows[0]) !== JSON.stringify(wanted))
    throw new Error(`the database has ${JSON.stringify(rows[0])}, not ${JSON.stringify(wanted)}`)
}

/** At each moment some wait, so that requests begin at all moments between two writes of the record. */
const WAITING = 8
const VISIBLE = 200
const LOOK_EVERY = 10

/** N6: the time from the response of one instance until the other shows the request. */
async function visible({ step, scale }: Bench, cluster: string): Promise<Figure> {
  const url = await createPostgresDatabase(cluster)
  const instances = [await startFarthing({ database: url }), await startFarthing({ database: url })]
  step('N6: a request at one instance, seen at the other')
  const times: number[] = []
  const count = Math.ceil((VISIBLE * scale) / WAITING)
  await Promise.all(
    Array.from({ length: WAITING }, async (_, i) => {
      const [one, other] = i % 2 ? instances : instances.toReversed()
      if (!one || !other) return
      const [a, b] = [await connect(one.port), await connect(other.port)]
      for (let made = 0; made < count; made++) {
        const id = idIn(await a.send(post('/v1/payments', newPayment())))
        const began = performance.now()
        const look = get(`/control/requests?payment_id=${id}`)
        while ((await b.send(look)).body.includes('"results":[]')) await setTimeout(LOOK_EVERY)
        times.push(performance.now() - began)
      }
      a.close()
      b.close()
    }),
  )
  await Promise.all(instances.map(server => server.stop()))
  const [p50, p99] = [round(percentile(times, 0.5), 2), round(percentile(times, 0.99), 2)]
  const most = round(percentile(times, 1), 2)
  return {
    figure: 'N6',
    what: 'a request is seen at the other of two instances',
    value: most,
    unit: 'ms at most',
    p50,
    p99,
    connections: WAITING,
    rows: times.length,
    target: '<= 500 ms',
    met: most <= 500,
  }
}
