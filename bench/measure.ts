import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { load, percentile, type Run, type Work } from './load.ts'
import type { Server } from './servers.ts'

/** One line of the results. Rates are units in a second, times milliseconds, memory MB. */
export type Figure = {
  figure: string
  what: string
  value: number
  unit: string
  /** What the value is measured against in the same run, and what that is. */
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
  /** Anything else that a reader may want. */
  details?: Record<string, unknown>
}

export type Bench = {
  /** Multiplies how long and how much: 1 for real figures, less to try things out. */
  scale: number
  /** Says what is being done now. */
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
  /** Milliseconds before each contender's turn: some go on working after theirs. */
  pause?: number
}

/**
 * Loads all contenders in turn, again and again, so that what else the machine does meets all alike: in
 * many short rounds, because a shared machine changes its pace from one second to the next. Answers the
 * medians of each, in their order, and of each round's ratio of the others to the first.
 */
export async function compare(
  contenders: Contender[],
  { rounds = 21, pause = 0, ...limit }: Rounds,
): Promise<{ series: Series[]; ratios: number[] }> {
  const runs: Run[][] = contenders.map(() => [])
  for (let done = 0; done < rounds; done++)
    for (const [i, { server, work }] of contenders.entries()) {
      await setTimeout(pause)
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
        2,
      ),
      p99: round(
        percentile(
          each.flatMap(({ times }) => times),
          0.99,
        ),
        2,
      ),
      units: each.reduce((sum, { units }) => sum + units, 0),
    })),
    ratios: rates.map(each => round(median(each.map((rate, j) => rate / (rates[0]?.[j] ?? 1))), 3)),
  }
}

/** Loads a server until its code is compiled and its caches are warm. */
export const warmUp = ({ server, work }: Contender, units: number): Promise<Run> =>
  load(server.port, 64, { units: Math.ceil(units) }, work)

/** What the figures belong to. */
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
