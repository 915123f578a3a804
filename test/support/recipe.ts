/** Runs shell lines of documents and examples unchanged, except for their port. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './folders.ts'
import { collect } from './process.ts'

const ROOT = join(import.meta.dirname, '../..')
const COMMANDS = join(import.meta.dirname, 'bin')
const QUIET = { npm_config_update_notifier: 'false' }

/** The blocks of a document that are marked `sh`, also those in a list. */
export function shellBlocks(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  return [...text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', lines = '']) =>
    lines.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

type Terminal = { cwd: string; port: number; env?: Record<string, string> }

/** Starts lines in bash, with `port` in place of 3000 and the `jq` of the tests. Their processes are one group. */
function startShell(
  lines: string,
  { cwd, port, env = {} }: Terminal,
  outputs: ['pipe' | number, 'pipe' | number],
) {
  const moved = lines.replaceAll(/\b3000\b/g, String(port))
  const { PATH = process.env.PATH ?? '', ...others } = env
  const shell = spawn('bash', ['-e', '-c', moved], {
    cwd,
    detached: true,
    env: { PATH: `${COMMANDS}:${PATH}`, HOME: cwd, PORT: String(port), ...QUIET, ...others },
    stdio: ['ignore', ...outputs],
  })
  const exited = once(shell, 'exit').then(([code]: (number | null)[]) => code ?? null)
  return { shell, exited }
}

/**
 * Runs lines in bash to their end. Their output goes to files: a process that they left running would keep a pipe open,
 * and after the end of bash a pipe may still hold output.
 */
export async function runLines(lines: string, terminal: Terminal) {
  const folder = tempFolder()
  const [stdout, stderr] = [join(folder, 'stdout'), join(folder, 'stderr')]
  const files = [openSync(stdout, 'w'), openSync(stderr, 'w')] as const
  const { exited } = startShell(lines, terminal, [...files])
  for (const file of files) closeSync(file)
  const code = await exited
  return { code, stdout: readFileSync(stdout, 'utf8'), stderr: readFileSync(stderr, 'utf8') }
}

/** Starts lines that run on, and waits until they have printed `text`. `stop` is Ctrl-C. */
export async function startLines(lines: string, terminal: Terminal, text: string) {
  const { shell, exited } = startShell(lines, terminal, ['pipe', 'pipe'])
  const { written: output, until } = collect(shell)
  const stop = () => {
    if (shell.exitCode === null && shell.pid) process.kill(-shell.pid, 'SIGINT')
    return exited
  }
  await until(text)
  return { output, stop }
}
