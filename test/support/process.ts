/** Farthing as its own process: the bundled command that `npm test` has made, elsewhere that of the clone. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The command of the clone, which runs the sources. */
const SOURCES = fileURLToPath(new URL('../../bin/farthing.js', import.meta.url))
export const COMMAND = process.env.FARTHING_TEST_COMMAND ?? SOURCES

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

type Spawned = ReturnType<typeof spawnFarthing>

/** `baseUrl` is its address, from its first line of output. */
export type FarthingProcess = Omit<Spawned, 'child' | 'stdout' | 'stderr'> & { baseUrl: string }

export type ProcessOptions = {
  /** Its whole environment, except PATH, and the folder for coverage if that is measured. */
  env?: Record<string, string>
  /** The arguments after `farthing`. Without arguments it serves. */
  args?: string[]
  /** A command that runs it, such as `strace -D ...`. The pid must be that of Node itself. */
  wrapper?: string[]
  /** Its standard input. Without it there is none. */
  input?: string
  /** Runs the sources in any case. */
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
  const started = spawnFarthing({ ...options, env: { PORT: '0', ...options.env } })
  const baseUrl = await Promise.race([firstAddress(started), started.exited.then(() => undefined)])
  if (baseUrl === undefined) throw new Error(`the process did not start:\n${started.output()}`)
  return { ...started, baseUrl }
}

/** Starts a command of `farthing` that goes on, and waits until it has printed `text`. */
export async function startCommand(options: ProcessOptions, text: string): Promise<Spawned> {
  const started = spawnFarthing(options)
  const printed = new Promise<void>(resolve => {
    const look = () => started.output().includes(text) && resolve()
    for (const stream of [started.child.stdout, started.child.stderr]) stream?.on('data', look)
  })
  await Promise.race([printed, started.exited])
  if (!started.output().includes(text))
    throw new Error(`it did not print ${text}:\n${started.output()}`)
  return started
}

/** Runs a command of `farthing` to its end. */
export async function runProcess(
  options: ProcessOptions,
): Promise<Exit & { stdout: string; stderr: string }> {
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
  const written = { stdout: '', stderr: '', both: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text
      written.both += text
    })
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    running.delete(child)
    return { code, signal }
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    /** Its output so far, stdout and stderr together. */
    output: () => written.both,
    /** Resolves when the process has exited and its output is complete. */
    exited,
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends SIGKILL and waits for the exit, `terminate` SIGTERM. */
    kill: () => stop('SIGKILL'),
    terminate: () => stop('SIGTERM'),
  }
}

/** Never resolves if the process prints no address. */
function firstAddress({ child, stdout }: Spawned): Promise<string> {
  return new Promise(resolve => {
    child.stdout?.on('data', () => {
      const address = /listening on (http:\S+)/.exec(stdout())?.[1]
      if (address) resolve(address)
    })
  })
}
