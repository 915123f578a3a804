import { isMainThread } from 'node:worker_threads'
import { version } from '../core/version.ts'

/** For a fast start a command loads only its own code, the service only its own, and `farthing --version` none. */
async function main(args: string[]): Promise<void> {
  const [first] = args
  try {
    if (args.length === 1 && (first === '--version' || first === '-v'))
      process.stdout.write(`${version}\n`)
    else if (args.length === 0 || (args.length === 1 && first === 'serve')) {
      const { readConfig } = await import('../app/config.ts')
      const { serveUntilStopped } = await import('./serve.ts')
      await serveUntilStopped(readConfig(process.env))
    } else {
      const { endWithReader, runCommand } = await import('./commands.ts')
      endWithReader()
      process.exitCode = await runCommand(args, process.env)
    }
  } catch (error) {
    const { writeProblems } = await import('./explain-error.ts')
    writeProblems(error)
    process.exitCode = 1
  }
}

// In the package everything is one file, and the thread of the test library loads it too.
if (isMainThread) void main(process.argv.slice(2))
else void import('../testing/thread.ts')
