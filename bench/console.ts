/** N3, N8, N12, N15: the pages of the console with many rows, the workbench, and what the record takes on the disk. */
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { brotliCompressSync } from 'node:zlib'
import { createNewId } from '../src/ids.ts'
import { analyse } from '../src/signature/analyse.ts'
import { newFolder, removeFolder } from './folders.ts'
import { load, percentile } from './load.ts'
import { type Bench, type Figure, round } from './measure.ts'
import { creating, journey } from './requests.ts'
import { KEY, startFarthing } from './servers.ts'

const LOADS = 200
const ROWS = 100_000
/** Requests that fill the record, of which all are admitted. */
const REAL_ROWS = 1_000

export async function consolePages({ step, scale }: Bench): Promise<Figure[]> {
  const folder = newFolder()
  const path = join(folder, 'farthing.db')
  step(
    `N3: ${REAL_ROWS} real requests, then their rows ${Math.round((ROWS * scale) / REAL_ROWS)} times`,
  )
  const filled = await startFarthing({ database: `sqlite:${path}` })
  await load(filled.port, 4, { units: REAL_ROWS / 10 }, journey())
  await load(filled.port, 4, { units: REAL_ROWS / 2 }, creating())
  await filled.stop()
  const { space, rows } = takeRows(path)
  const middle = multiply(path, rows, ROWS * scale)
  const farthing = await startFarthing({ database: `sqlite:${path}` })
  const cookie = await signIn(farthing.port)
  const figures: Figure[] = [space]
  for (const [what, page] of [
    ['the newest', 'requests'],
    ['from the middle', `requests?before=${middle}`],
    ['only refused, of which there are none', 'requests?show=refused'],
  ] as const) {
    step(`N3: requests, ${what}`)
    figures.push(await pageFigure(farthing.port, cookie, { what, page, rows: ROWS * scale }))
  }
  await farthing.stop()
  removeFolder(folder)
  return [...figures, workbench(step), weight()]
}

async function signIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/console/sign-in`, {
    ...{ method: 'POST', body: new URLSearchParams({ key: KEY }), redirect: 'manual' },
  })
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function pageFigure(
  port: number,
  cookie: string,
  { what, page, rows }: { what: string; page: string; rows: number },
): Promise<Figure> {
  const times: number[] = []
  for (let i = 0; i < LOADS; i++) {
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/console/${page}`, {
      headers: { Cookie: cookie },
    })
    const text = await response.text()
    times.push(performance.now() - began)
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
  }
  const p50 = round(percentile(times, 0.5), 2)
  const p99 = round(percentile(times, 0.99), 2)
  return {
    ...{ figure: 'N3', what: `the page of requests, ${what}`, value: p99, unit: 'ms, p99' },
    ...{ p50, p99, connections: 1, rows },
    ...{ target: 'p99 < 50 ms, p50 < 10 ms', met: p99 < 50 && p50 < 10 },
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
    ...{ figure: 'N12', what: 'space of 10,000 exchanges, of creates and journeys' },
    ...{ value: megabytes, unit: 'MB', rows: rows.length },
    ...{ target: '<= 20 MB', met: megabytes <= 20 },
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
  const times = Array.from({ length: LOADS }, () => {
    const began = performance.now()
    analyse({ body, key, header, keys })
    return performance.now() - began
  })
  const p99 = round(percentile(times, 0.99), 2)
  return {
    ...{
      figure: 'N8',
      what: `a signature that nothing explains, ${body.length} bytes`,
      value: p99,
    },
    ...{ unit: 'ms, p99', p50: round(percentile(times, 0.5), 2), p99 },
    ...{ target: 'p99 < 50 ms', met: p99 < 50 },
  }
}

/** N15: what the console adds to the files that browsers load. */
function weight(): Figure {
  const built = new URL('../src/web/assets/built/', import.meta.url)
  const sizeOf = (pattern: RegExp) => {
    const name = readdirSync(built).find(each => pattern.test(each)) ?? ''
    return round(brotliCompressSync(readFileSync(new URL(name, built))).length / 1024, 2)
  }
  const script = sizeOf(/^console-.*\.js$/)
  const styles = sizeOf(/^console-.*\.css$/)
  return {
    ...{ figure: 'N15', what: 'script and style sheet of the console, in brotli', value: script },
    ...{ unit: 'KB of script', target: '< 4 KB, styles < 15 KB', met: script < 4 && styles < 15 },
    details: { styles },
  }
}
