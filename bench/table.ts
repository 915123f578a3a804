/** Writes the figures between the two marks of docs/notes/performance.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Figure } from './measure.ts'

const DOCUMENT = new URL('../docs/notes/performance.md', import.meta.url)
const [BEGIN, END] = ['<!-- figures -->', '<!-- end of figures -->']

const number = (value: number | undefined): string =>
  value === undefined
    ? ''
    : value.toLocaleString('en-GB', { maximumFractionDigits: value < 100 ? 2 : 0 })

/** Three digits, because 0.897 misses a target of 0.90. */
const share = (value: number | undefined): string =>
  value === undefined ? '' : `**${value.toFixed(3)}**`

function row(figure: Figure): string[] {
  const { what, value, unit, floor, against, ratio, target, met } = figure
  return [
    figure.figure,
    what,
    `${number(value)} ${unit}`,
    floor === undefined ? '' : `${number(floor)}, ${against}`,
    share(ratio),
    met === null ? target : `${target}: ${met ? 'met' : '**missed**'}`,
  ]
}

const line = (cells: string[]): string => `| ${cells.join(' | ')} |`

function table(heads: string[], rows: string[][]): string {
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

export function writeTables(figures: Figure[], about: Record<string, unknown>): void {
  const heads = ['', 'Work', 'Farthing', 'Against', 'Ratio', 'Bar']
  const own = figures.filter(({ figure }) => figure !== 'peer')
  const others = figures.filter(({ figure }) => figure === 'peer')
  const peers = others.map(({ what, value, ratio, p99, rss, details }) => [
    what,
    number(value),
    share(ratio),
    share(Number(details?.farthing)),
    `${number(p99)} ms`,
    `${number(rss)} MB`,
    String(details?.keeps),
  ])
  const { cpu, cores, date, commit, node, sqlite, loadBefore } = about
  const text = `One run on ${cores} cores (${cpu}), ${String(date).slice(0, 10)}, commit ${commit}, Node ${node}, SQLite ${sqlite};
the load average before it was ${loadBefore}, so ${Number(loadBefore) < 0.5 ? 'the machine was quiet' : 'the machine was **not** quiet: only the ratios mean something'}.

${table(heads, own.map(row))}

Peers, each creating payments at 64 connections in turn with the floor and with Farthing, which keeps them on disk:

${table(['', 'A second', 'Ratio to the floor', 'That of Farthing', '99 of 100', 'Memory', 'What it keeps'], peers)}`
  const document = readFileSync(DOCUMENT, 'utf8')
  const [before, rest = ''] = document.split(BEGIN)
  const after = rest.split(END)[1]
  if (after === undefined)
    throw new Error(`docs/notes/performance.md has lost its marks: ${BEGIN} ${END}`)
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${text}\n\n${END}${after}`)
}
