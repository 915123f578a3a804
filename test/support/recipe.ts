/** Shell lines of documents and examples, run as they stand on a port that is free. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '../..')

/** The blocks of a document that are marked as shell lines. */
export function shellBlocks(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  )
  const result = await connected
  socket.destroy()
  return result
}

/** Waits until nothing listens, for up to ten seconds. Returns whether that is so. */
export async function isFreeAgain(port: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (!(await isListening(port))) return true
    await sleep(100)
  }
  return false
}

export type Outcome = { code: number | null; stdout: string; stderr: string }

/** Runs lines in bash, with `port` in place of 3000. */
export async function runLines(
  lines: string,
  { cwd, port, env = {} }: { cwd: string; port: number; env?: Record<string, string> },
): Promise<Outcome> {
  const moved = lines.replaceAll(/\b3000\b/g, String(port))
  const shell = spawn('bash', ['-e', '-c', moved], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    shell[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  // A process that the lines left running keeps the pipes open, so the end of bash counts.
  const [code] = await once(shell, 'exit')
  return { code, ...output }
}
