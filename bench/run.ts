/**
 * `npm run bench` measures all figures of docs/notes/performance.md, `npm run bench -- P1 P2` some of them.
 * `--scale 0.1` takes a tenth of the time and the rows, to try it out. `--against FOLDER` compares this
 * checkout with another one instead. Each figure is one JSON line on standard output, progress goes to
 * standard error, and everything is kept in bench/results. Only a complete run writes
 * docs/notes/performance.md and the plot of docs/performance.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type ComparedFigure, comparable, compareCheckouts, ratiosOfPrograms } from './against.ts'
import { checking } from './check.ts'
import { listening, startingCommands } from './command-line.ts'
import { type Bench, circumstances, type Figure, figuresOf } from './measure.ts'
import { packaged } from './package.ts'
import { drawPeers, peers } from './peers.ts'
import { postgres } from './postgres.ts'
import { createAndRead, journeys } from './single.ts'
import { start } from './start.ts'
import { oneTest } from './suite.ts'
import { writeTables } from './table.ts'

type Part = {
  figures: string[]
  /** Its duration on the machine of docs/notes/performance.md, for the progress bar. */
  seconds: number
  run: (bench: Bench) => Promise<Figure[]>
}

const ofPackage = (name: string, seconds: number): Part => ({
  figures: [name],
  seconds,
  run: async bench => figuresOf((await ratiosOfPrograms[name]?.([packaged()], bench)) ?? []),
})

const parts: Part[] = [
  { figures: ['P7', 'P8'], seconds: 45, run: start },
  { figures: ['P1', 'P2'], seconds: 130, run: createAndRead },
  { figures: ['P3', 'P4'], seconds: 90, run: journeys },
  ofPackage('N1', 320),
  ofPackage('N2', 25),
  { figures: ['K1', 'K2'], seconds: 15, run: checking },
  { figures: ['N9'], seconds: 45, run: listening },
  { figures: ['N10'], seconds: 10, run: startingCommands },
  ofPackage('C4', 90),
  ofPackage('C8', 50),
  { figures: ['P9'], seconds: 30, run: postgres },
  { figures: ['P11'], seconds: 40, run: oneTest },
  ofPackage('P12', 30),
  ofPackage('P14', 60),
  { figures: ['peers'], seconds: 70, run: peers },
]

const FOLDER = new URL('results/', import.meta.url)
const WIDTH = 24

const USAGE = `Usage: npm run bench -- [options] [FIGURE...]

Measures all figures of docs/notes/performance.md, or those named:
  ${parts.flatMap(({ figures }) => figures).join(' ')}

  --scale 0.1       takes a tenth of the time and the rows
  --against FOLDER  compares this checkout with another one: ${comparable.join(' ')}
`

/** Ends the process with the usage, after a wrong one with 2. */
function endWithUsage(problem?: string): never {
  if (problem === undefined) process.stdout.write(USAGE)
  else process.stderr.write(`${problem}\n\n${USAGE}`)
  process.exit(problem === undefined ? 0 : 2)
}

function readArguments() {
  const options = {
    scale: { type: 'string', default: '1' },
    against: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    return endWithUsage(error instanceof Error ? error.message : String(error))
  }
}

const { values, positionals } = readArguments()
if (values.help) endWithUsage()
const known = values.against ? comparable : parts.flatMap(({ figures }) => figures)
const unknown = positionals.filter(name => !known.includes(name))
if (unknown.length > 0) endWithUsage(`unknown: ${unknown.join(', ')}`)
if (!(Number(values.scale) > 0)) endWithUsage('--scale takes a number above 0')
const wanted = parts.filter(
  ({ figures }) => positionals.length === 0 || figures.some(name => positionals.includes(name)),
)

const total = wanted.reduce((sum, { seconds }) => sum + seconds, 0)
const began = performance.now()
let done = 0

function step(text: string): void {
  const share = Math.min(1, done / total)
  const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '-')
  const elapsed = Math.round((performance.now() - began) / 1000)
  process.stderr.write(
    `[${bar}] ${String(Math.round(share * 100)).padStart(3)} % ${elapsed} s  ${text}\n`,
  )
}

const bench: Bench = {
  scale: Number(values.scale),
  step,
}

/** Called after each part, so that a run that is stopped keeps its figures. */
function keep(name: string): void {
  mkdirSync(FOLDER, { recursive: true })
  const text = JSON.stringify({ ...about, scale: bench.scale, figures }, null, 2)
  writeFileSync(new URL(name, FOLDER), `${text}\n`)
}

const about = circumstances()
if (values.against) {
  const report = (figure: ComparedFigure) =>
    process.stdout.write(`${JSON.stringify({ ...figure, against: values.against, ...about })}\n`)
  const chosen = positionals.length > 0 ? positionals : comparable
  const say = (text: string) => process.stderr.write(`${text}\n`)
  await compareCheckouts(values.against, chosen, { scale: bench.scale, step: say, report })
  process.exit()
}

const figures: Figure[] = []
for (const part of wanted) {
  for (const figure of await part.run(bench)) {
    figures.push(figure)
    process.stdout.write(`${JSON.stringify({ ...figure, ...about })}\n`)
  }
  done += part.seconds
  keep('part.json')
}
step('done')
const complete = positionals.length === 0 && bench.scale === 1
if (complete) keep('latest.json')
drawPeers(
  figures,
  new URL('bench-peers.svg', complete ? new URL('../docs/images/', import.meta.url) : FOLDER),
)
if (complete) writeTables(figures, about)
