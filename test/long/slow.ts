/**
 * Runs the whole suite as on slow machines, and with timers that fire sooner and later: no test may depend on the work
 * before a timer fires. `npm run test:long -- slow` makes five runs of each kind. `node test/long/slow.ts LOG [RUNS
 * [KIND ...]]` makes as many of these kinds, and writes a line for each to the file LOG too.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { isStopped, processTree, signal } from '../support/process-tree.ts'
import type { Job } from './run.ts'

/** Milliseconds for which all processes of a run are continued and stopped in turn: a quarter of the speed. */
const CONTINUED = 10
const STOPPED = 30
/** Milliseconds between looks for new processes. */
const LOOK_EVERY = 100

type Kind = { wrapper?: string[]; env?: Record<string, string>; isSlowed?: boolean }

const kinds: Record<string, Kind> = {
  core: { wrapper: ['taskset', '--cpu-list', process.env.FARTHING_TEST_CORE ?? '0'] },
  quarter: { isSlowed: true },
  'short-timers': { env: { FARTHING_TEST_TIMERS: '0.1' } },
  'long-timers': { env: { FARTHING_TEST_TIMERS: '10' } },
}

export const job: Job = {
  title: 'The whole suite on one core, at a quarter of the speed, and with other timers',
  async run({ scale }) {
    const runs = Math.ceil(5 * scale)
    assert.ok(await runAll(runs, Object.keys(kinds), console.log), 'see above')
    return `${runs} runs of each`
  },
}

/** Resolves to whether all runs were green. */
async function runAll(runs: number, names: string[], note: (line: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-slow-'))
  let green = true
  for (let nth = 1; nth <= runs; nth++)
    for (const name of names) {
      const began = performance.now()
      const kind = kinds[name]
      if (!kind)
        throw new Error(`no such kind: ${name} (there are ${Object.keys(kinds).join(', ')})`)
      const output = join(folder, `${name}-${nth}`)
      const code = await runSuite(kind, output)
      const failed = failedTests(readFileSync(output, 'utf8'))
      if (code !== 0) green = false
      const result = code === 0 ? 'green' : `${failed.join('; ') || 'stopped'} (${output})`
      const took = Math.round((performance.now() - began) / 1_000)
      note(`${new Date().toISOString()} ${name} ${nth}: ${took} s, ${result}`)
    }
  return green
}

/** The suite has a PostgreSQL of its own, which is slowed too. Resolves to the exit code. */
async function runSuite({ wrapper = [], env = {}, isSlowed = false }: Kind, output: string) {
  const { NODE_TEST_CONTEXT: _, ...own } = process.env
  for (const name of Object.keys(own)) if (name.startsWith('FARTHING_TEST_')) delete own[name]
  const [program = process.execPath, ...args] = [...wrapper, process.execPath, 'test/run.ts']
  const log = openSync(output, 'w')
  // As npm does, because tests run `node`.
  const PATH = [dirname(process.execPath), own.PATH].join(delimiter)
  const suite = spawn(program, args, { env: { ...own, ...env, PATH }, stdio: ['ignore', log, log] })
  const ended = once(suite, 'close')
  if (isSlowed) slow(suite)
  const [code] = await ended
  closeSync(log)
  return code
}

/** The names below the last heading, where the runner lists the failed tests. */
const failedTests = (text: string): string[] =>
  [...(text.split('✖ failing tests:')[1] ?? '').matchAll(/^✖ (.+?)(?: \([\d.]+ms\))?$/gm)].map(
    ([, name = '']) => name,
  )

/**
 * Stops and continues the process and all its descendants, in turns. A process that a test has stopped is left alone:
 * processes that could stop another are stopped first and continued last.
 */
function slow(suite: ChildProcess): void {
  let all: number[] = []
  let looked = 0
  const hold = () => {
    if (performance.now() - looked > LOOK_EVERY) {
      all = processTree(suite.pid ?? 0)
      looked = performance.now()
    }
    const stopped = all.filter(pid => !isStopped(pid) && signal(pid, 'SIGSTOP'))
    setTimeout(() => {
      for (const pid of stopped.toReversed()) signal(pid, 'SIGCONT')
      if (suite.exitCode === null && suite.signalCode === null) setTimeout(hold, CONTINUED)
    }, STOPPED)
  }
  hold()
}

if (import.meta.main) {
  const [log = '/dev/null', runs = '5', ...names] = process.argv.slice(2)
  const green = await runAll(Number(runs), names.length > 0 ? names : Object.keys(kinds), line => {
    console.log(line)
    appendFileSync(log, `${line}\n`)
  })
  process.exitCode = green ? 0 : 1
}
