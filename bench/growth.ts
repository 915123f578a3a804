/** P5, P6 and N5: requests, searches and the console with a million payments in the database. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { loadPages } from './console-pages.ts'
import { newFolder, removeFolder } from './folders.ts'
import { load, percentile, type Work } from './load.ts'
import { type Bench, compare, type Figure, round, warmUp } from './measure.ts'
import { creating, expect, get, reading } from './requests.ts'
import { runFarthing, type Server, startFarthing } from './servers.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]

type Grown = { rows: number; path: string; server: Server; ids: string[]; folder: string }

export async function growth(bench: Bench): Promise<Figure[]> {
  const { step, scale } = bench
  const grown: Grown[] = []
  for (const size of SIZES) grown.push(await grow(Math.max(100, size * scale), step))
  const creates = grown.map(({ server }) => ({ server, work: creating() }))
  const reads = grown.map(({ server, ids }) => ({ server, work: reading(ids) }))
  const limit = { connections: 64, seconds: scale / 2 }
  step('P5: warming up')
  for (const each of [...reads, ...creates]) await warmUp(each, 10_000 * scale)
  step('P5: reading with more and more payments in the database')
  const read = await compare(reads, limit)
  step('P5: creating with more and more payments in the database')
  const created = await compare(creates, limit)
  for (const [i, { rows }] of grown.entries())
    for (const [name, { series }] of Object.entries({ create: created, read })) {
      bench.plot('growth', { name: `${name}, median`, x: rows, y: series[i]?.p50 ?? 0 })
      bench.plot('growth', { name: `${name}, 99 of 100`, x: rows, y: series[i]?.p99 ?? 0 })
    }

  const largest = grown.at(-1)
  if (!largest) throw new Error('nothing has grown')
  const figures = [
    growthFigure('POST /v1/payments', 0.9, created, largest),
    growthFigure('GET /v1/payments/{id}', 0.7, read, largest),
    await searches(bench, largest),
    ...(await listed(bench, largest)),
  ]
  for (const { server, folder } of grown) {
    await server.stop()
    removeFolder(folder)
  }
  return figures
}

async function grow(rows: number, step: Bench['step']): Promise<Grown> {
  step(`P5: farthing seed --payments ${rows}`)
  const folder = newFolder()
  const path = join(folder, 'farthing.db')
  await runFarthing(['seed', '--create', '--payments', String(rows)], `sqlite:${path}`, text => {
    const line = text.trimEnd().split('\n').at(-1)
    if (rows > 100_000 && line) step(`P5: ${line}`)
  })
  const every = Math.ceil(rows / 100_000)
  const ids = query<{ payment_id: string }>(
    path,
    `select payment_id from payments where rowid % ${every} = 0`,
  ).map(row => row.payment_id)
  return { rows, path, folder, ids, server: await startFarthing({ database: `sqlite:${path}` }) }
}

function query<Row>(path: string, sql: string): Row[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare(sql).all()
  database.close()
  return rows as Row[] // the columns that the statement names
}

function growthFigure(
  what: string,
  least: number,
  { series, ratios }: Awaited<ReturnType<typeof compare>>,
  { rows, server }: Grown,
): Figure {
  const [small, large] = [series[0], series.at(-1)]
  const ratio = ratios.at(-1) ?? 0
  return {
    figure: 'P5',
    what,
    value: large?.rate ?? 0,
    unit: 'a second',
    floor: small?.rate ?? 0,
    against: 'the same with 1,000 payments',
    ratio,
    p50: large?.p50 ?? 0,
    p99: large?.p99 ?? 0,
    connections: 64,
    rows,
    rss: server.rss(),
    target: `ratio >= ${least.toFixed(2)}`,
    met: ratio >= least,
  }
}

const count = (path: string, from: string): number =>
  query<{ total: number }>(path, `select count(*) as total from ${from}`)[0]?.total ?? 0

/** A page of 20, with the right total. */
const searching = (path: string, total: number): Work => {
  const request = get(path)
  return async send => expect(await send(request), 200, `"total":${total},"count":`)
}

async function searches({ step, scale }: Bench, { path, server }: Grown): Promise<Figure> {
  const payments = count(path, 'payments')
  const agreements = count(path, 'agreements')
  const success = count(path, `payments where status = 'success'`)
  const deep = Math.min(50, Math.ceil(agreements / 20))
  const works: Record<string, Work> = {
    'payments, page 1': searching('/v1/payments?display_size=20', payments),
    'payments, page 50': searching('/v1/payments?display_size=20&page=50', payments),
    'agreements, page 1': searching('/v1/agreements?display_size=20', agreements),
    'agreements, page 50': searching(`/v1/agreements?display_size=20&page=${deep}`, agreements),
    'payments by reference': searching('/v1/payments?display_size=20&reference=seed-0000077', 1),
    'payments by state': searching('/v1/payments?display_size=20&state=success', success),
  }
  const found: Record<string, { p50: number; p99: number; rate: number }> = {}
  for (const [name, work] of Object.entries(works)) {
    step(`P6: ${name}`)
    await load(server.port, 8, { seconds: 0.3 }, work)
    const { rate, times } = await load(server.port, 8, { seconds: Math.max(1, 2 * scale) }, work)
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
    found[name] = { p50: round(p50, 2), p99: round(p99, 2), rate: round(rate) }
  }
  const asked = Object.entries(found).filter(([name]) => name.includes('page'))
  const worst = asked.reduce((a, b) => (b[1].p99 > a[1].p99 ? b : a))
  return {
    figure: 'P6',
    what: `the slowest of pages 1 and 50 of 20: ${worst[0]}`,
    value: worst[1].p99,
    unit: 'ms, 99 of 100',
    p50: worst[1].p50,
    p99: worst[1].p99,
    connections: 8,
    rows: payments,
    rss: server.rss(),
    target: 'p99 <= 50 ms',
    met: worst[1].p99 <= 50,
    details: { agreements, ...found },
  }
}

/** N5: the list of payments in the console. */
async function listed({ step }: Bench, { rows, path, server }: Grown): Promise<Figure[]> {
  const figures: Figure[] = []
  const middle = query<{ payment_id: string }>(
    path,
    `select payment_id from payments order by payment_id limit 1 offset ${Math.floor(rows / 2)}`,
  )[0]?.payment_id
  for (const [what, page] of [
    ['the newest', 'payments'],
    ['from the middle', `payments?before=${middle}`],
    ['by reference', 'payments?q=SEED-0000077'],
    ['by a reference that nothing has', 'payments?q=nothing'],
    ['by status', 'payments?status=success'],
  ] as const) {
    step(`N5: the list of payments, ${what}`)
    const { p50, p99 } = await loadPages(server.port, page)
    figures.push({
      figure: 'N5',
      what: `the list of payments in the console, ${what}`,
      value: p99,
      unit: 'ms, p99',
      p50,
      p99,
      connections: 1,
      rows,
      target: 'p99 < 50 ms',
      met: p99 < 50,
    })
  }
  return figures
}
