/** Compares the package of this checkout with that of another one, in the same rounds of the same run. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { behaviours } from './behaviours.ts'
import { resets, testAccounts } from './control.ts'
import { newFolder, removeFolder } from './folders.ts'
import type { Work } from './load.ts'
import {
  type Bench,
  type Comparison,
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
import { type Receiver, register, startReceiver } from './single.ts'
import { IDLE, ROUNDS, startAndPay } from './start.ts'
import { manyAccounts } from './suite.ts'

/**
 * `old` is the other checkout. `ratio` is the median of new/old of each round. If the figure itself is a ratio, `old`
 * and `new` are those of the same rounds, and `ratio` is new/old.
 */
export type ComparedFigure = {
  figure: string
  what: string
  unit: string
  old: number
  new: number
  ratio: number
  /** The ratio of each start, if both programs were started more than once. */
  starts?: number[]
}

/** Starts of both programs for a rate, and rounds in each. */
const STARTS = 12
const ROUNDS_OF_A_START = 5

type MeasurePrograms = (programs: string[], bench: Bench) => Promise<Measured[]>

/** Figures that are ratios of two measurements of one program. */
export const ratiosOfPrograms: Record<string, MeasurePrograms> = {
  N1: recordingUnderLoad,
  N2: recordingAtRest,
  C4: resets,
  C8: testAccounts,
  P12: manyAccounts,
  P14: behaviours,
}

export const comparable = ['P1', 'P2', 'P3', 'P4', 'P7', 'P8', ...Object.keys(ratiosOfPrograms)]

type Options = Bench & { report: (figure: ComparedFigure) => void }

/** Measures the wanted figures and reports each one. Rates are per second, times in ms, memory in MB. */
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
    for (const figure of await rates(other, bench.scale, createsAndReads))
      if (has(figure.figure)) report(figure)
  if (has('P3')) for (const each of await rates(other, bench.scale, wholeJourney)) report(each)
  if (has('P4')) {
    const receiver = await startReceiver()
    for (const each of await rates(other, bench.scale, hookedJourney(receiver), receiver))
      report(each)
    await receiver.close()
  }
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

/** Starts both programs in turn, and alternates which is first. */
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

/** Starts the programs on new SQLite files, in this order, with a webhook each if there is a receiver. */
async function startAll(programs: string[], receiver?: Receiver) {
  const folder = newFolder()
  const servers: Server[] = []
  for (const [nth, program] of programs.entries()) {
    const database = `sqlite:${join(folder, `${nth}.db`)}`
    servers.push(await startFarthing({ database, program, env: receiver?.env ?? {} }))
  }
  if (receiver) for (const server of servers) await register(server, receiver)
  return {
    servers,
    async stop() {
      for (const server of servers) await server.stop()
      removeFolder(folder)
    },
  }
}

/** `warm`: the units of work that warm a server up. */
type Kind = { figure: string; what: string; warm: number; work: Work }

function createsAndReads(): Kind[] {
  const ids: string[] = []
  return [
    { figure: 'P1', what: 'POST /v1/payments', warm: 60_000, work: creating(ids) },
    { figure: 'P2', what: 'GET /v1/payments/{id}', warm: 100_000, work: reading(ids) },
  ]
}

const wholeJourney = (): Kind[] => [
  { figure: 'P3', what: 'a whole journey: 5 requests', warm: 15_000, work: journey() },
]

const hookedJourney = (receiver: Receiver) => (): Kind[] => [
  { figure: 'P4', what: 'the same with 2 messages', warm: 15_000, work: journey(receiver.check) },
]

/**
 * Starts both programs several times, because two processes of one program differ by some per cent for as long as they
 * run. The first program alternates. A ratio is the median of the ratios of the starts.
 */
async function rates(
  other: string,
  scale: number,
  kindsOfServer: () => Kind[],
  receiver?: Receiver,
): Promise<ComparedFigure[]> {
  const rounds = { ...steadyTurns(scale), rounds: ROUNDS_OF_A_START }
  const measured: Record<string, Comparison[]> = {}
  for (let start = 0; start < STARTS; start++) {
    const order = start % 2 ? [packaged(), other] : [other, packaged()]
    const { servers, stop } = await startAll(order, receiver)
    const [olds = [], news = []] = (start % 2 ? servers.toReversed() : servers).map(server =>
      kindsOfServer().map(kind => ({ ...kind, server })),
    )
    for (const [nth, { figure, warm }] of olds.entries()) {
      const contenders = [olds, news].flatMap(kinds => kinds[nth] ?? [])
      for (const contender of contenders) await warmUp(contender, warm * scale)
      const comparison = await compare(contenders, rounds)
      measured[figure] = [...(measured[figure] ?? []), comparison]
    }
    await stop()
  }
  return kindsOfServer().map(({ figure, what }) => {
    const starts = measured[figure] ?? []
    const rate = (of: number) => round(median(starts.map(({ series }) => series[of]?.rate ?? 0)))
    const ratios = starts.map(({ ratio }) => ratio())
    const ratio = round(median(ratios), 3)
    return { figure, what, unit: 'a second', old: rate(0), new: rate(1), ratio, starts: ratios }
  })
}
