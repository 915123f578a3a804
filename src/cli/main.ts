import { isMainThread } from 'node:worker_threads'
import { ConfigError, readConfig } from '../config.ts'
import { explainError } from './explain-error.ts'

/** Runs the command line. `farthing` and `farthing serve` load the service and nothing else, so that they start fast. */
async function main(args: string[]): Promise<void> {
  const serves = args.length === 0 || (args.length === 1 && args[0] === 'serve')
  try {
    if (serves) await (await import('./serve.ts')).serveUntilStopped(readConfig(process.env))
    else process.exitCode = await (await import('./commands.ts')).runCommand(args, process.env)
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [explainError(error)]
    for (const problem of problems) process.stderr.write(`farthing: ${problem}\n`)
    process.exitCode = 1
  }
}

// In the package everything is one file, and the thread of the test library loads it too.
if (isMainThread) void main(process.argv.slice(2))
else void import('../testing/thread.ts')
