/** Farthing as its own process: the bundled command that `npm test` has made, or else the command of the clone. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempFolder } from './folders.ts'

/** The command of the clone, which runs the sources. */
const SOURCES = fileURLToPath(new URL('../../bin/farthing.js', import.meta.url))
export const COMMAND = process.env.FARTHING_TEST_COMMAND ?? SOURCES

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

type Spawned = ReturnType<typeof spawnFarthing>

/** `baseUrl` is its address, from its first line of output. */
export type FarthingProcess = Omit<Spawned, 'until' | 'stdout' | 'stderr'> & { baseUrl: string }

export type ProcessOptions = {
  /** Its whole environment, except PATH, and the folder for coverage if that is measured. */
  env?: Record<string, string>
  /** The arguments after `farthing`. Without arguments it serves. */
  args?: string[]
  /** A command that runs it, such as `strace -D ...`. The pid must be that of Node itself. */
  wrapper?: string[]
  /** Its standard input. Without it there is none. */
  input?: string
  fromSources?: boolean
  /** Runs this file instead. */
  program?: string
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts the service on a free loopback port and waits for its address. */
export async function startProcess(options: ProcessOptions = {}): Promise<FarthingProcess> {
  const env = { PORT: '0', ...options.env }
  const started = await startCommand({ ...options, env }, 'listening on http:')
  return { ...started, baseUrl: /listening on (http:\S+)/.exec(started.stdout())?.[1] ?? '' }
}

/** Starts a command of `farthing` that goes on, and waits until it has printed `text`. */
export async function startCommand(options: ProcessOptions, text: string): Promise<Spawned> {
  const started = spawnFarthing(options)
  await started.until(text)
  return started
}

export async function runProcess(options: ProcessOptions) {
  const { exited, stdout, stderr } = spawnFarthing(options)
  return { ...(await exited), stdout: stdout(), stderr: stderr() }
}

function spawnFarthing(options: ProcessOptions) {
  const { env = {}, args = [], wrapper = [], input } = options
  const command = options.program ?? (options.fromSources ? SOURCES : COMMAND)
  const [program = process.execPath, ...rest] = [...wrapper, process.execPath, command, ...args]
  const { PATH = '', NODE_V8_COVERAGE } = process.env
  const child = spawn(program, rest, {
    env: { PATH, ...(NODE_V8_COVERAGE && { NODE_V8_COVERAGE }), ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => {}).end(input)
  running.add(child)
  const { written, until } = collect(child)
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    running.delete(child)
    return { code, signal }
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  return {
    until,
    pid: child.pid ?? 0,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    output: () => written.both,
    /** Resolves when the process has exited and its output is complete. */
    exited,
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** `kill` sends SIGKILL, `terminate` SIGTERM. Both wait for the exit. */
    kill: () => stop('SIGKILL'),
    terminate: () => stop('SIGTERM'),
  }
}

/** Collects the output. `until` waits for a text, and rejects with the output if the process ends first. */
export function collect(child: ChildProcess) {
  const written = { stdout: '', stderr: '', both: '' }
  let look = () => {}
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text
      written.both += text
      look()
    })
  async function until(text: string): Promise<void> {
    const printed = new Promise<void>(resolve => {
      look = () => written.both.includes(text) && resolve()
    })
    await Promise.race([printed, once(child, 'close')])
    assert.ok(written.both.includes(text), `it did not print ${text}:\n${written.both}`)
  }
  return { written, until }
}

/**
 * Writes a program `farthing` to a new folder. It runs the command with this Node, or the shell line `line`. Before
 * that it writes its environment as JSON to the file `settings`.
 */
export function programOf({ line = START, settings = '' } = {}): string {
  const program = join(tempFolder(), 'farthing')
  const write = `"${process.execPath}" -p 'JSON.stringify(process.env)' > "${settings}"`
  writeFileSync(program, `#!/bin/sh\n${settings && write}\n${line}\n`)
  chmodSync(program, 0o755)
  return program
}

const START = `exec "${process.execPath}" "${COMMAND}" "$@"`
