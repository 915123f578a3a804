/** N3, N4, N8, N12, N15: the pages of the console with many rows, the workbench, and what the record takes on the disk. */
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { brotliCompressSync } from 'node:zlib'
import { MOST_BODY_BYTES } from '../src/core/exchange.ts'
import { createNewId } from '../src/core/ids.ts'
import { insertExchange } from '../src/tools/recorder/store.ts'
import { analyse } from '../src/tools/signature/analyse.ts'
import { type Loaded, loadPages } from './console-pages.ts'
import { newFolder, removeFolder } from './folders.ts'
import { connect, load, percentile } from './load.ts'
import { type Bench, type Figure, round } from './measure.ts'
import { creating, idIn, journey, newPayment, post } from './requests.ts'
import { startFarthing } from './servers.ts'

const ANALYSES = 200
const SIZES = [100_000, 1_000_000]
/** Requests that fill the record, of which all are admitted. */
const REAL_ROWS = 1_000

export async function consolePages({ step, scale }: Bench): Promise<Figure[]> {
  const folder = newFolder()
  const path = join(folder, 'farthing.db')
  step(`N3: ${REAL_ROWS} real requests, whose rows are copied`)
  const filled = await startFarthing({ database: `sqlite:${path}` })
  await load(filled.port, 4, { units: REAL_ROWS / 10 }, journey())
  await load(filled.port, 4, { units: REAL_ROWS / 2 }, creating())
  await filled.stop()
  const { space, rows } = takeRows(path)
  const figures: Figure[] = [space]
  for (const size of SIZES) {
    step(`N3: the page of requests with ${size * scale} rows`)
    const middle = multiply(path, rows, size * scale)
    const farthing = await startFarthing({ database: `sqlite:${path}` })
    for (const [what, page] of [
      ['the newest', 'requests'],
      ['from the middle', `requests?before=${middle}`],
      ['only refused, of which there are none', 'requests?show=refused'],
    ] as const) {
      const loaded = await loadPages(farthing.port, page)
      figures.push(requestsFigure(what, loaded, size * scale))
    }
    if (size === SIZES.at(-1)) figures.push(await underLoad(farthing.port, size * scale))
    await farthing.stop()
  }
  step('N4: the page of a payment with 200 requests')
  figures.push(await timeline(path))
  removeFolder(folder)
  return [...figures, workbench(step), weight()]
}

function requestsFigure(what: string, { p50, p99 }: Loaded, rows: number): Figure {
  return {
    figure: 'N3',
    what: `the page of requests, ${what}`,
    value: p99,
    unit: 'ms, p99',
    p50,
    p99,
    connections: 1,
    rows,
    target: 'p99 < 50 ms, p50 < 10 ms',
    met: p99 < 50 && p50 < 10,
  }
}

/** The page while 64 connections create payments. */
async function underLoad(port: number, rows: number): Promise<Figure> {
  const working = load(port, 64, { seconds: 5, mayRest: true }, creating())
  const { p50, p99 } = await loadPages(port, 'requests', { loads: 50 })
  await working
  return {
    figure: 'N3',
    what: 'the page of requests while payments are created',
    value: p99,
    unit: 'ms, p99',
    p50,
    p99,
    connections: 64,
    rows,
    target: 'p99 < 250 ms',
    met: p99 < 250,
  }
}

const EXCHANGES = 200
const BODY = JSON.stringify({ text: 'x'.repeat(MOST_BODY_BYTES - 11) })

/** N4: a payment with 200 requests, each with 8 KiB of body on both sides. */
async function timeline(path: string): Promise<Figure> {
  const farthing = await startFarthing({ database: `sqlite:${path}` })
  const { send, close } = await connect(farthing.port)
  const payment_id = idIn(await send(post('/v1/payments', newPayment())))
  close()
  await farthing.stop()
  const database = new DatabaseSync(path)
  const newId = createNewId()
  for (let i = 0; i < EXCHANGES; i++) {
    const now = Date.now() - EXCHANGES + i
    const { sql, values } = insertExchange({
      exchange_id: newId(now),
      room: 'default',
      payment_id,
      message_id: null,
      kind: 'api',
      operation: 'capturePayment',
      status: 409,
      refused: true,
      at: now,
      method: 'POST',
      path: `/v1/payments/${payment_id}/capture`,
      query: `n=${i}`,
      request_headers: { 'content-type': 'application/json' },
      response_headers: {},
      request_body: { text: BODY },
      response_body: { text: BODY },
      ms: 1,
      ended: 'sent',
    })
    database.prepare(sql.replaceAll('$', '?')).run(...values)
  }
  database.close()
  const again = await startFarthing({ database: `sqlite:${path}` })
  const { p50, p99, bytes } = await loadPages(again.port, `payments/${payment_id}`)
  await again.stop()
  return {
    figure: 'N4',
    what: `the page of a payment with ${EXCHANGES} requests of 8 KiB`,
    value: p99,
    unit: 'ms, p99',
    p50,
    p99,
    connections: 1,
    rows: EXCHANGES,
    target: 'p99 < 100 ms, page < 400 KB',
    met: p99 < 100 && bytes < 400_000,
    details: { bytes },
  }
}

type Row = Record<string, SQLOutputValue>

/** Takes the rows that were just recorded out of the file. N12: the bytes that 10,000 of them take. */
function takeRows(path: string): { space: Figure; rows: Row[] } {
  const database = new DatabaseSync(path)
  const rows = database.prepare('select * from exchanges').all()
  const before = sizeAfterVacuum(database, path)
  database.exec('delete from exchanges')
  const after = sizeAfterVacuum(database, path)
  database.close()
  const megabytes = round((((before - after) / rows.length) * 10_000) / 1e6)
  const space = {
    figure: 'N12',
    what: 'space of 10,000 exchanges, of creates and journeys',
    value: megabytes,
    unit: 'MB',
    rows: rows.length,
    target: '<= 20 MB',
    met: megabytes <= 20,
  }
  return { space, rows }
}

function sizeAfterVacuum(database: DatabaseSync, path: string): number {
  database.exec('vacuum; pragma wal_checkpoint(truncate)')
  return statSync(path).size
}

/** Copies rows under new identifiers until there are `wanted`. Returns the identifier in the middle. */
function multiply(path: string, rows: readonly Row[], wanted: number): string {
  const database = new DatabaseSync(path)
  database.exec('delete from exchanges')
  const names = Object.keys(rows[0] ?? {})
  const newId = createNewId()
  const now = Date.now()
  const marks = names.map((_, i) => `?${i + 1}`).join(', ')
  const insert = database.prepare(`insert into exchanges (${names.join(', ')}) values (${marks})`)
  let middle = ''
  database.exec('begin')
  for (let i = 0; i < wanted; i++) {
    const row = rows[i % rows.length] ?? {}
    const exchange_id = newId(now - wanted + i)
    if (i === Math.floor(wanted / 2)) middle = exchange_id
    insert.run(...names.map(name => (name === 'exchange_id' ? exchange_id : (row[name] ?? null))))
  }
  database.exec('commit')
  database.close()
  return middle
}

/** N8: nothing matches, so everything is tried. */
function workbench(step: Bench['step']): Figure {
  step('N8: the workbench')
  const key = `webhook_test_${'k'.repeat(26)}`
  const keys = ['a', 'b', 'c'].map(name => ({ name, key: `webhook_test_${name.repeat(26)}` }))
  const resource = { description: 'Crème £'.repeat(200), metadata: {} }
  const body = Buffer.from(JSON.stringify({ webhook_message_id: 'x', resource }))
  const header = createHmac('sha256', 'another').update(body).digest('hex')
  const times = Array.from({ length: ANALYSES }, () => {
    const began = performance.now()
    analyse({ body, key, header, keys })
    return performance.now() - began
  })
  const p99 = round(percentile(times, 0.99), 2)
  return {
    figure: 'N8',
    what: `a signature that nothing explains, ${body.length} bytes`,
    value: p99,
    unit: 'ms, p99',
    p50: round(percentile(times, 0.5), 2),
    p99,
    target: 'p99 < 50 ms',
    met: p99 < 50,
  }
}

/** N15: what the console adds to the files that browsers load. */
function weight(): Figure {
  const built = new URL('../src/platform/web/assets/built/', import.meta.url)
  const sizeOf = (pattern: RegExp) => {
    const name = readdirSync(built).find(each => pattern.test(each)) ?? ''
    return round(brotliCompressSync(readFileSync(new URL(name, built))).length / 1024, 2)
  }
  const script = sizeOf(/^console-.*\.js$/)
  const styles = sizeOf(/^console-.*\.css$/)
  return {
    figure: 'N15',
    what: 'script and style sheet of the console, in brotli',
    value: script,
    unit: 'KB of script',
    target: '< 4 KB, styles < 15 KB',
    met: script < 4 && styles < 15,
    details: { styles },
  }
}
