/** Shell lines of documents and examples, run as they stand on a port that is free. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The blocks of a document that are marked as shell lines. */
export function shellBlocks(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines)
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
