/** Starts the processes that are measured, each on a free port of loopback. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newFolder, removeFolder } from './folders.ts'
import { packaged } from './package.ts'

export type Server = {
  port: number
  pid: number
  /** Resident memory in MB. */
  rss(): number
  /** Sends SIGTERM; resolves when the process has ended. */
  stop(): Promise<void>
}

export const KEY = 'key_of_the_bench_0123456789'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const FLOOR = file('floor.ts')
const BARE = file('bare.ts')
const LEAST = file('least.cjs')

const running = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** `answers`: the length in bytes of the response to a POST and to a GET, headers included. */
export const startFloor = (answers: { post: number; get: number }): Promise<Server> =>
  start(process.execPath, [FLOOR, String(answers.post), String(answers.get)], {})

/** Like the floor, but keeps the payments in a SQLite file; `post` is the length of a response in bytes. */
export const startBare = (folder: string, { post }: { post: number }): Promise<Server> =>
  start(process.execPath, [BARE, `sqlite:${join(folder, 'bare.db')}`, String(post)], {})

/** A bare server with a thread and SQLite, the least service of this kind, to compare memory with. */
export const startLeast = (): Promise<Server> => start(process.execPath, [LEAST], {})

export type FarthingOptions = {
  /** As in DATABASE_URL. */
  database: string
  env?: Record<string, string>
  /** The farthing.js of a package; by default that of this checkout's package. */
  program?: string | undefined
}

/** The real program as in production: WAL, synchronous=FULL, its log at level info in a file. */
export const startFarthing = (options: FarthingOptions): Promise<Server> => {
  const { database, env, program = packaged() } = options
  return start(process.execPath, [program], {
    DATABASE_URL: database,
    FARTHING_API_KEY: KEY,
    PORT: '0',
    ...env,
  })
}

/** The milliseconds that Node takes to run a script with these arguments. Throws if it fails. */
export async function timeOf(args: string[], env: Record<string, string> = {}): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`)
  return performance.now() - began
}

const LISTENING = /(?:listening |127\.0\.0\.1:|localhost:)(\d+)/

/** Starts a program. Its first lines say on which port it listens, unless `port` is given. */
export async function start(
  program: string,
  args: string[],
  env: Record<string, string>,
  { port, cwd, patience = 30_000 }: { port?: number; cwd?: string; patience?: number } = {},
): Promise<Server> {
  const folder = newFolder()
  const log = join(folder, 'log')
  const descriptor = openSync(log, 'w')
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', descriptor, descriptor],
    ...(cwd && { cwd }),
  })
  closeSync(descriptor)
  running.add(child)
  const ended = once(child, 'exit').then(() => running.delete(child))
  const pid = child.pid ?? 0
  return {
    port: await address(child, log, port, patience),
    pid,
    rss: () => residentMemory(pid),
    async stop() {
      child.kill('SIGTERM')
      await ended
      removeFolder(folder)
    },
  }
}

async function address(child: ChildProcess, log: string, port: number | undefined, ms: number) {
  for (const until = Date.now() + ms; Date.now() < until; await pause(1)) {
    const output = readFileSync(log, 'utf8')
    if (child.exitCode !== null) throw new Error(`the server ended:\n${output}`)
    const found = port ? await answers(port) : Number(LISTENING.exec(output)?.[1])
    if (found) return port ?? Number(found)
  }
  throw new Error(`the server did not start:\n${readFileSync(log, 'utf8')}`)
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false)

/** VmRSS in MB; 0 if the kernel does not say it. */
function residentMemory(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kilobytes ?? 0) / 102.4) / 10
}
