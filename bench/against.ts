/** Compares the package of this checkout with that of another one, in the same rounds of the same run. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { resets, testAccounts } from './control.ts'
import { newFolder, removeFolder } from './folders.ts'
import type { Work } from './load.ts'
import {
  type Bench,
  compare,
  type Measured,
  median,
  round,
  steadyTurns,
  warmUp,
} from './measure.ts'
import { buildPackage, packaged } from './package.ts'
import { recordingAtRest, recordingUnderLoad } from './recording.ts'
import { creating, journey, reading } from './requests.ts'
import { type Server, startFarthing } from './servers.ts'
import { IDLE, ROUNDS, startAndPay } from './start.ts'
import { manyAccounts } from './suite.ts'

/**
 * `old` is the other checkout. `ratio` is the median of each round's new/old. Of a figure that is itself a ratio, `old`
 * and `new` are those of the same rounds, and `ratio` is new/old.
 */
export type ComparedFigure = {
  figure: string
  what: string
  unit: string
  old: number
  new: number
  ratio: number
}

type MeasurePrograms = (programs: string[], bench: Bench) => Promise<Measured[]>

/** Figures that are ratios of two measurements of one program. */
export const ratiosOfPrograms: Record<string, MeasurePrograms> = {
  N1: recordingUnderLoad,
  N2: recordingAtRest,
  C4: resets,
  C8: testAccounts,
  P12: manyAccounts,
}

export const comparable = ['P1', 'P2', 'P3', 'P7', 'P8', ...Object.keys(ratiosOfPrograms)]

type Options = Bench & { report: (figure: ComparedFigure) => void }

/** Measures the wanted figures and reports each one. Rates are per second, times ms, memory MB. */
export async function compareCheckouts(
  folder: string,
  wanted: string[],
  { report, ...bench }: Options,
): Promise<void> {
  const checkout = resolve(folder)
  if (!existsSync(join(checkout, 'bin/farthing.js'))) throw new Error(`no checkout in ${checkout}`)
  const other = buildPackage(checkout)
  const own = packaged()
  const has = (...names: string[]) => names.some(name => wanted.includes(name))
  if (has('P7', 'P8'))
    for (const figure of await starts(other, has('P8'))) if (has(figure.figure)) report(figure)
  if (has('P1', 'P2'))
    for (const figure of await createsAndReads(other, bench.scale))
      if (has(figure.figure)) report(figure)
  if (has('P3')) report(await journeys(other, bench.scale))
  for (const [name, measure] of Object.entries(ratiosOfPrograms))
    if (has(name)) for (const each of await measure([other, own], bench)) report(ratiosOfBoth(each))
}

const ratiosOf = (news: number[], olds: number[]): number =>
  round(median(news.map((value, i) => value / (olds[i] ?? 1))), 3)

function ratiosOfBoth({ figure, what, ratios }: Measured): ComparedFigure {
  const [old = 0, current = 0] = ratios.map(({ value, floor, ratio = value / floor }) => ratio)
  const unit = `to ${ratios[0]?.against}`
  return {
    figure,
    what,
    unit,
    old: round(old, 3),
    new: round(current, 3),
    ratio: round(current / old, 3),
  }
}

/** Both start in turn, and which is first alternates. */
async function starts(other: string, withMemory: boolean): Promise<ComparedFigure[]> {
  const times = { old: [] as number[], new: [] as number[] }
  const idle = { old: [] as number[], new: [] as number[] }
  const sides = [
    { side: 'old', program: other },
    { side: 'new', program: undefined },
  ] as const
  for (let i = 0; i < ROUNDS; i++)
    for (const { side, program } of i % 2 ? sides : sides.toReversed()) {
      const { ms, farthing, stop } = await startAndPay(program)
      times[side].push(ms)
      if (withMemory) {
        await pause(IDLE)
        idle[side].push(farthing.rss())
      }
      await stop()
    }
  const figure = (name: string, what: string, unit: string, of: typeof times) => ({
    figure: name,
    what,
    unit,
    old: round(median(of.old)),
    new: round(median(of.new)),
    ratio: ratiosOf(of.new, of.old),
  })
  return [
    figure('P7', 'from the start in an empty folder to the first 201', 'ms', times),
    ...(withMemory
      ? [figure('P8', 'resident memory when idle, two seconds after the first payment', 'MB', idle)]
      : []),
  ]
}

/** Starts both on new SQLite files. The other checkout is the first. */
async function startBoth(other: string) {
  const folder = newFolder()
  const servers: Server[] = []
  for (const [name, program] of [
    ['old', other],
    ['new', undefined],
  ] as const)
    servers.push(await startFarthing({ database: `sqlite:${join(folder, `${name}.db`)}`, program }))
  return {
    servers,
    async stop() {
      for (const server of servers) await server.stop()
      removeFolder(folder)
    },
  }
}

async function rounds(
  figure: string,
  what: string,
  contenders: { server: Server; work: Work }[],
  { warm, scale }: { warm: number; scale: number },
): Promise<ComparedFigure> {
  for (const contender of contenders) await warmUp(contender, warm)
  const { series, ratio } = await compare(contenders, steadyTurns(scale))
  const [old, current] = series.map(({ rate }) => rate)
  return {
    figure,
    what,
    unit: 'a second',
    old: old ?? 0,
    new: current ?? 0,
    ratio: ratio(),
  }
}

async function createsAndReads(other: string, scale: number): Promise<ComparedFigure[]> {
  const { servers, stop } = await startBoth(other)
  const both = servers.map(server => ({ server, ids: [] as string[] }))
  const creates = both.map(({ server, ids }) => ({ server, work: creating(ids) }))
  const created = await rounds('P1', 'POST /v1/payments', creates, {
    warm: 60_000 * scale,
    scale,
  })
  const reads = both.map(({ server, ids }) => ({ server, work: reading(ids) }))
  const read = await rounds('P2', 'GET /v1/payments/{id}', reads, {
    warm: 100_000 * scale,
    scale,
  })
  await stop()
  return [created, read]
}

async function journeys(other: string, scale: number): Promise<ComparedFigure> {
  const { servers, stop } = await startBoth(other)
  const contenders = servers.map(server => ({ server, work: journey() }))
  const warm = 15_000 * scale
  const figure = await rounds('P3', 'a whole journey: 5 requests', contenders, {
    warm,
    scale,
  })
  await stop()
  return figure
}
