import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { load, percentile, type Run, type Work } from './load.ts'
import type { Server } from './servers.ts'

/** One line of the results. Rates are units per second, times are in milliseconds, memory in MB. */
export type Figure = {
  figure: string
  what: string
  value: number
  unit: string
  /** The reference value of the same run; `against` names it. */
  floor?: number
  against?: string
  ratio?: number
  p50?: number
  p99?: number
  rss?: number
  target: string
  met: boolean | null
  details?: Record<string, unknown>
}

/** The least or the most that a ratio may be. Without either it has no bar. */
export type Bar = { least?: number; most?: number; prize?: number }

/** The bar in words, and whether a ratio meets it. */
function judge(ratio: number, { least, most, prize }: Bar): Pick<Figure, 'target' | 'met'> {
  if (least === undefined && most === undefined) return { target: '', met: null }
  const wish = prize === undefined ? '' : ` (prize: ${prize})`
  const target = least === undefined ? `ratio <= ${most}` : `ratio >= ${least}`
  return { target: target + wish, met: ratio <= (most ?? Infinity) && ratio >= (least ?? 0) }
}

export type Ratio = {
  value: number
  floor: number
  unit: string
  against: string
  ratio?: number
  /** Milliseconds. */
  p50?: number
  p99?: number
}

/** A figure of one or more programs, measured in the same rounds, with a ratio for each. */
export type Measured = { figure: string; what: string; bar: Bar; ratios: Ratio[] }

/** For each program there are two contenders: the second is compared with the first. */
export function pairsOf({ series, ratio }: Comparison, against: string): Ratio[] {
  const ratios: Ratio[] = []
  for (let i = 1; i < series.length; i += 2) {
    const [{ rate: floor } = NOTHING, { rate: value, p50, p99 } = NOTHING] = series.slice(i - 1)
    ratios.push({ value, floor, unit: 'a second', against, ratio: ratio(i, i - 1), p50, p99 })
  }
  return ratios
}

export const figuresOf = (measured: Measured[]): Figure[] =>
  measured.flatMap(({ figure, what, bar, ratios: [first] }) =>
    first ? [ratioFigure(figure, what, first, bar)] : [],
  )

/** A figure that is judged by its ratio to a reference measured in turn with it: `ratio`, or value by floor. */
export function ratioFigure(
  figure: string,
  what: string,
  { value, floor, unit, against, ratio = value / floor, p50, p99 }: Ratio,
  bar: Bar = {},
): Figure {
  return {
    figure,
    what,
    unit,
    against,
    value: round(value, 2),
    floor: round(floor, 2),
    ratio: round(ratio, 3),
    ...(p50 !== undefined && { p50: round(p50, 2) }),
    ...(p99 !== undefined && { p99: round(p99, 2) }),
    ...judge(ratio, bar),
  }
}

/** The figure of contender `of` against contender `to` of the same rounds. */
export function comparedFigure(
  figure: string,
  what: string,
  { series, ratio }: Comparison,
  { of = 1, to = 0, against, rss, ...bar }: Bar & Compared,
): Figure {
  const { rate: value, p50, p99, units } = series[of] ?? NOTHING
  const { rate: floor } = series[to] ?? NOTHING
  const measured = { value, floor, unit: 'a second', against, ratio: ratio(of, to), p50, p99 }
  return {
    ...ratioFigure(figure, what, measured, bar),
    ...(rss !== undefined && { rss }),
    details: { units },
  }
}

/** The contenders to compare; by default the second with the first. */
type Compared = { of?: number; to?: number; against: string; rss?: number }

const NOTHING: Series = { rate: 0, p50: 0, p99: 0, units: 0 }

export type Bench = {
  /** Multiplies durations and rows: 1 for real figures, less to try things out. */
  scale: number
  step(text: string): void
}

export const round = (value: number, digits = 1): number =>
  Math.round(value * 10 ** digits) / 10 ** digits

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

export type Contender = { server: Server; work: Work }

export type Series = { rate: number; p50: number; p99: number; units: number }

/** `ratio`: the median over the rounds of the rate of `of` by that of `to`. */
export type Comparison = { series: Series[]; ratio: (of?: number, to?: number) => number }

export type Rounds = {
  connections: number
  seconds: number
  rounds?: number
  mayRest?: boolean
  /** Milliseconds before each contender's turn, because some contenders still work after their turn. */
  pause?: number
  /** Seconds of load at the beginning of each turn that are not measured. */
  lead?: number
}

/**
 * Turns in which the recorder works as under steady load. It admits 100 exchanges a second for an account. After two
 * seconds of rest it records 200 at once, and then writes once a second. `lead` is the time to write those 200.
 */
export const steadyTurns = (scale: number) => ({
  connections: 64,
  lead: 0.4 * scale,
  seconds: scale,
})

/**
 * Loads all contenders in turn in many short rounds, because the speed of a shared machine changes from one second to
 * the next. Every second round is in reverse order. The series are the medians of each contender.
 */
export async function compare(
  contenders: Contender[],
  { rounds = 21, pause = 0, lead = 0, ...limit }: Rounds,
): Promise<Comparison> {
  const runs: Run[][] = contenders.map(() => [])
  const order = [...contenders.entries()]
  for (let done = 0; done < rounds; done++)
    for (const [i, { server, work }] of done % 2 ? order.toReversed() : order) {
      await setTimeout(pause)
      if (lead > 0) await load(server.port, limit.connections, { ...limit, seconds: lead }, work)
      runs[i]?.push(await load(server.port, limit.connections, limit, work))
    }
  const rates = runs.map(each => each.map(({ rate }) => rate))
  return {
    series: runs.map((each, i) => {
      const times = each.flatMap(run => run.times)
      return {
        rate: round(median(rates[i] ?? [])),
        p50: round(percentile(times, 0.5), 4),
        p99: round(percentile(times, 0.99), 4),
        units: times.length,
      }
    }),
    ratio: (of = 1, to = 0) =>
      round(median((rates[of] ?? []).map((rate, j) => rate / (rates[to]?.[j] ?? 1))), 3),
  }
}

/** Loads a server until its code is optimised and its caches are warm. */
export const warmUp = ({ server, work }: Contender, units: number): Promise<Run> =>
  load(server.port, 64, { units: Math.ceil(units) }, work)

/** The commit, the versions and the machine of a run. */
export function circumstances(): Record<string, unknown> {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const cpu = /model name\s*: (.+)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  return {
    commit: git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src') ? '+' : ''),
    date: new Date().toISOString(),
    farthing: JSON.parse(text).version,
    node: process.version,
    sqlite: process.versions.sqlite,
    cpu,
    cores: navigator.hardwareConcurrency,
    loadBefore: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]),
  }
}
