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
  connections?: number
  rows?: number
  rss?: number
  target: string
  met: boolean | null
  details?: Record<string, unknown>
}

/** A ratio, and the least or the most that it may be. */
export type Bar = { what: string; ratio: number; least?: number; most?: number }

/** A figure whose bar is a ratio to something that was measured in turn with it. */
export function ratioFigure(
  figure: string,
  { what, ratio, least, most }: Bar,
  { value, floor, unit, against }: { value: number; floor: number; unit: string; against: string },
): Figure {
  const target = least === undefined ? `ratio <= ${most}` : `ratio >= ${least}`
  return {
    figure,
    what,
    unit,
    against,
    target,
    value: round(value, 3),
    floor: round(floor, 3),
    ratio: round(ratio, 3),
    met: ratio <= (most ?? Infinity) && ratio >= (least ?? 0),
  }
}

export type Bench = {
  /** Multiplies durations and rows: 1 for real figures, less to try things out. */
  scale: number
  /** Reports progress. */
  step(text: string): void
  /** Keeps points for the plots, by series. */
  plot(name: string, point: Record<string, number | string>): void
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

export type Rounds = {
  connections: number
  seconds: number
  rounds?: number
  mayRest?: boolean
  /** Milliseconds before each contender's turn, because some work on after theirs. */
  pause?: number
  /** Seconds of load at the beginning of each turn that are not measured. */
  lead?: number
}

/**
 * Turns in which the recorder works as under steady load. It admits 100 exchanges a second for an account, so one that
 * rested for two seconds records 200 at once, and then writes once a second. `lead` is enough to write those.
 */
export const steadyTurns = (scale: number) => ({
  connections: 64,
  lead: 0.4 * scale,
  seconds: scale,
})

/**
 * Loads all contenders in turn in many short rounds, because the speed of a shared machine changes from
 * one second to the next. Every second round is in reverse order. Returns the medians of each contender,
 * and for each the median of its ratio to the first contender in the same round.
 */
export async function compare(
  contenders: Contender[],
  { rounds = 21, pause = 0, lead = 0, ...limit }: Rounds,
): Promise<{ series: Series[]; ratios: number[] }> {
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
    series: runs.map((each, i) => ({
      rate: round(median(rates[i] ?? [])),
      p50: round(
        percentile(
          each.flatMap(({ times }) => times),
          0.5,
        ),
        4,
      ),
      p99: round(
        percentile(
          each.flatMap(({ times }) => times),
          0.99,
        ),
        4,
      ),
      units: each.reduce((sum, { units }) => sum + units, 0),
    })),
    ratios: rates.map(each => round(median(each.map((rate, j) => rate / (rates[0]?.[j] ?? 1))), 3)),
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
