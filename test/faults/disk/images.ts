/** Cuts the power at many moments of a trace and checks the files that are left each time. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Random } from '../process/workload.ts'
import { createDisk } from './power-cut.ts'
import { readTrace } from './trace.ts'

export type Cuts = {
  /** The file of the trace, and the database to check. */
  trace: string
  path: string
  images: number
  random: Random
  /** Matches acknowledged identifiers in the sent text; `present` selects the stored identifiers. */
  acknowledges: RegExp
  present: string
  /** Queries that must return no row. */
  consistent?: string[]
}

export type CutReport = Awaited<ReturnType<typeof cutPower>>

/** In memory if possible, because there are many images. */
const SCRATCH = process.platform === 'linux' ? '/dev/shm' : tmpdir()

export async function cutPower(cuts: Cuts) {
  const { trace, path, random } = cuts
  const moments = await countMoments(trace, path)
  const chance = Math.min(1, cuts.images / (2 * moments))
  const folder = mkdtempSync(join(SCRATCH, 'farthing-cut-'))
  const disk = createDisk(file => isOf(path, file))
  const acknowledged = new Set<string>()
  const report = {
    images: 0,
    moments,
    /** The number of syncs of the database file itself. */
    checkpoints: 0,
    /** Images without some acknowledged identifiers, and the most that one image lacks. */
    losing: 0,
    worst: 0,
    /** Images that SQLite cannot open, or that are damaged or inconsistent. */
    damaged: 0,
    examples: [] as string[],
  }
  try {
    for await (const event of readTrace(trace)) {
      disk.apply(event)
      if (event.kind === 'told')
        for (const [, id] of event.text.matchAll(cuts.acknowledges)) acknowledged.add(id ?? '')
      else if (!isOf(path, event.file)) continue
      if (event.kind === 'sync' && event.file === path) report.checkpoints += 1
      if (random() >= chance) continue
      for (const keep of ['nothing', 'some'] as const) {
        const found = inspect(cuts, disk.image(keep, random), folder, acknowledged)
        report.images += 1
        if (found.problem) report.damaged += 1
        else if (found.missing > 0) report.losing += 1
        report.worst = Math.max(report.worst, found.missing)
        if ((found.problem || found.missing) && report.examples.length < 3)
          report.examples.push(`${event.kind}, ${keep} kept: ${found.problem ?? found.missing}`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { ...report, acknowledged: acknowledged.size }
}

/** The database, its write-ahead log and its rollback journal. The shared memory need not survive. */
const isOf = (path: string, file: string): boolean =>
  file === path || file === `${path}-wal` || file === `${path}-journal`

async function countMoments(trace: string, path: string): Promise<number> {
  let moments = 0
  for await (const event of readTrace(trace))
    if (event.kind === 'told' || isOf(path, event.file)) moments += 1
  return moments
}

type Found = { problem?: string; missing: number }

function inspect(
  { path, present, consistent = [] }: Cuts,
  image: Map<string, Buffer>,
  scratch: string,
  acknowledged: ReadonlySet<string>,
): Found {
  const folder = join(scratch, 'image')
  mkdirSync(folder)
  let database: DatabaseSync | undefined
  try {
    for (const [name, bytes] of image) writeFileSync(join(folder, basename(name)), bytes)
    database = new DatabaseSync(join(folder, basename(path)))
    const [check] = database.prepare('pragma integrity_check').all().map(Object.values)
    if (check?.[0] !== 'ok') return { problem: String(check), missing: 0 }
    if (database.prepare('select name from sqlite_schema').all().length === 0)
      return { missing: acknowledged.size }
    if (acknowledged.size === 0) return { missing: 0 }
    for (const query of consistent) {
      const wrong = database.prepare(query).all()
      if (wrong.length > 0) return { problem: JSON.stringify(wrong), missing: 0 }
    }
    const there = new Set(
      database
        .prepare(present)
        .all()
        .map(row => String(Object.values(row)[0])),
    )
    return { missing: [...acknowledged].filter(id => !there.has(id)).length }
  } catch (error) {
    return { problem: String(error), missing: 0 }
  } finally {
    database?.close()
    rmSync(folder, { recursive: true })
  }
}
