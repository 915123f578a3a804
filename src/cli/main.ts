import { isMainThread } from 'node:worker_threads'
import { readConfig } from '../app/config.ts'
import { writeProblems } from './explain-error.ts'

/** Runs the command line. `farthing` and `farthing serve` load the service and nothing else, so that they start fast. */
async function main(args: string[]): Promise<void> {
  const serves = args.length === 0 || (args.length === 1 && args[0] === 'serve')
  try {
    if (serves) await (await import('./serve.ts')).serveUntilStopped(readConfig(process.env))
    else {
      const { endWithReader, runCommand } = await import('./commands.ts')
      endWithReader()
      process.exitCode = await runCommand(args, process.env)
    }
  } catch (error) {
    writeProblems(error)
    process.exitCode = 1
  }
}

// In the package everything is one file, and the thread of the test library loads it too.
if (isMainThread) void main(process.argv.slice(2))
else void import('../testing/thread.ts')
