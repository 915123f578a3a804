/**
 * Breaks the code in one place at a time, and says whether a test notices: `npm run mutate -- 50 --seed 1`. It draws 50
 * places of `src/{core,platform,pay,tools}` (mutants.ts). `--skip` leaves out the first of the draw, `--only` takes
 * places in files whose path contains a text, and `--files` is the most test files that run for a mutant.
 *
 * A mutant runs in a copy of the tree, on SQLite, in the test files that reach its line, until the first test is red.
 * The lines are measured once for each test file, and kept in node_modules/.cache/mutate.json. If all stay green, the
 * compiler checks the code. A mutant that it refuses, or that never ends, is caught too, and counted apart.
 *
 * Stryker 10.1.1 was tried. It stops at TypeScript 7, whose API it calls by the old names. With a workaround it runs
 * node:test only through its TAP runner, which switches mutants by the environment of the test process: none acts in
 * processes that tests start. It writes all mutants into the code at once, which changes the results of tests of memory
 * and of turns of 25 ms. It cannot draw, and knows neither a missing `await` nor an argument in the wrong place.
 */
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { testsConcerning } from '../test/support/concerning.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { hashOf, linesIn, type Reached, reaches } from './reach.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['core', 'platform', 'pay', 'tools'].map(name => `src/${name}`)
/** A copy of the tree leaves these out. */
const NOT_COPIED = new Set(['.git', 'node_modules'])
/** Tests that do not run: they read the tree itself, make packages of it, or need a browser or other languages. */
const LEFT_OUT =
  /^test\/(browser\/|testing\/language|(documents|executable|installation|package|run|tidy)\.)/
/** A file without mutants, because it never runs on SQLite. */
const POSTGRES = '/postgres.ts'
const AT_ONCE = 2
/** Test files of one process. The files that most likely notice come first, in smaller groups. */
const TOGETHER = [4, 12, 30]
/** Milliseconds for a group of files, in addition to a multiple of the time that they took without a mutant. */
const AT_LEAST = 30_000

/** The reached lines by test file. */
type Tests = Map<string, Reached>
type Outcome = 'red' | 'timeout' | 'types' | 'lived' | 'unreached'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    skip: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    files: { type: 'string', default: 'Infinity' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'farthing-mutants-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
await main()

async function main(): Promise<void> {
  const tests = await measure()
  const skip = Number(values.skip)
  const drawn = mutantsOf(ROOT, FOLDERS, values.seed)
    .filter(({ file }) => file.includes(values.only) && !file.endsWith(POSTGRES))
    .slice(skip, skip + Number(positionals[0] ?? 50))
  const outcomes = new Map<Mutant, Outcome>()
  await eachInCopy(drawn, async (mutant, copy) => {
    const outcome = await outcomeOf(mutant, copy, tests)
    outcomes.set(mutant, outcome)
    const { file, line, kind, before, after } = mutant
    const change = `${file}:${line} ${kind}: ${before} → ${after}`.replaceAll(/\s+/g, ' ')
    process.stdout.write(`${outcome.padEnd(9)} ${change.slice(0, 300)}\n`)
  })
  process.stdout.write(`\n${tableOf(outcomes)}`)
}

async function outcomeOf(mutant: Mutant, copy: string, tests: Tests): Promise<Outcome> {
  const path = join(copy, mutant.file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.slice(0, mutant.start) + mutant.after + text.slice(mutant.end))
  try {
    const likely = new Set(testsConcerning([mutant.file]))
    const files = [...tests]
      .filter(([, test]) => reaches(test, mutant, text))
      .map(([file, { ms }]) => ({ file, ms, isLikely: Number(likely.has(file)) }))
      .sort((a, b) => b.isLikely - a.isLikely || a.ms - b.ms)
      .slice(0, Number(values.files))
    for (let done = 0, nth = 0; done < files.length; nth++) {
      const group = files.slice(done, done + (TOGETHER[nth] ?? files.length))
      done += group.length
      const result = await run(
        copy,
        group.map(({ file }) => file),
        group.reduce((sum, { ms }) => sum + ms, 0),
      )
      if (result !== 'green') return result
    }
    const status = await ended(
      spawn(join(ROOT, 'node_modules/.bin/tsc'), { cwd: copy, stdio: 'ignore' }),
    )
    if (status !== 0) return 'types'
    return files.length === 0 ? 'unreached' : 'lived'
  } finally {
    writeFileSync(path, text)
  }
}

/** Runs test files in one process, which ends at the first test that is red. */
async function run(
  copy: string,
  files: string[],
  usual: number,
  env: Record<string, string> = {},
): Promise<'green' | 'red' | 'timeout'> {
  const group = join(copy, 'group.mjs')
  writeFileSync(
    group,
    files.map(file => `import '${pathToFileURL(join(copy, file)).href}'\n`).join(''),
  )
  const child = spawn(
    process.execPath,
    [
      '--test-reporter=tap',
      String.raw`--test-skip-pattern=/\(postgres\)|on postgres|PostgreSQL/`,
      group,
    ],
    {
      cwd: copy,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  )
  let result: 'green' | 'red' | 'timeout' = 'green'
  /** Ends the process, and the processes that it started. */
  const end = (why: typeof result) => {
    result = why
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  const late = setTimeout(() => end('timeout'), AT_LEAST + 4 * usual)
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (result === 'green' && lines.some(line => /^ *not ok /.test(line))) end('red')
  })
  const status = await ended(child)
  clearTimeout(late)
  return result === 'green' && status !== 0 ? 'red' : result
}

function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise(resolve => child.on('close', status => resolve(status)))
}

/** Runs each new or changed test file once, without a mutant. A file that is red then reaches no line. */
async function measure(): Promise<Tests> {
  const cache = join(ROOT, 'node_modules/.cache/mutate.json')
  mkdirSync(dirname(cache), { recursive: true })
  const kept: [string, Reached][] = existsSync(cache) ? JSON.parse(readFileSync(cache, 'utf8')) : []
  const hashes = new Map(
    globSync('test/**/*.test.ts', { cwd: ROOT })
      .filter(file => !LEFT_OUT.test(file))
      .map(file => [file, hashOf(readFileSync(join(ROOT, file), 'utf8'))]),
  )
  const tests: Tests = new Map(kept.filter(([file, { hash }]) => hashes.get(file) === hash))
  const unknown = [...hashes].filter(([file]) => !tests.has(file))
  await eachInCopy(unknown, async ([file, hash], copy) => {
    const output = join(copy, 'coverage')
    const began = performance.now()
    const result = await run(copy, [file], 240_000, { NODE_V8_COVERAGE: output })
    const lines = result === 'green' ? linesIn(copy, output) : {}
    tests.set(file, { hash, ms: performance.now() - began, lines })
    rmSync(output, { recursive: true, force: true })
    writeFileSync(cache, JSON.stringify([...tests]))
    process.stdout.write(`${result.padEnd(9)} ${file}\n`)
  })
  return tests
}

/** Takes the items in order, as many at once as there are copies of the tree. */
async function eachInCopy<Item>(
  items: Item[],
  work: (item: Item, copy: string) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const take = async (_: unknown, nth: number) => {
    const copy = join(folder, `${nth}`)
    if (waiting.length > 0 && !existsSync(copy)) copyTree(copy)
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      await work(item, copy)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}

/** The copy links to the clone's packages, but not to their cache, into which a mutant could write. */
function copyTree(copy: string): void {
  for (const name of readdirSync(ROOT))
    if (!NOT_COPIED.has(name)) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  const packages = join(copy, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
}

function tableOf(outcomes: Map<Mutant, Outcome>): string {
  const rooms = Map.groupBy(outcomes, ([{ file }]) =>
    file.split('/').slice(1, -1).slice(0, 2).join('/'),
  )
  const row = (name: string, found: [Mutant, Outcome][]) => {
    const count = (...which: Outcome[]) =>
      found.filter(([, outcome]) => which.includes(outcome)).length
    const caught = count('red', 'timeout', 'types')
    return `${name.padEnd(24)} ${found.length} drawn, ${caught} caught (${count('types')} by types, ${count('timeout')} by time), ${count('unreached')} unreached, ${Math.round((caught / found.length) * 100)} %\n`
  }
  return [
    ...[...rooms].sort().map(([name, found]) => row(name, found)),
    row('all', [...outcomes]),
  ].join('')
}
